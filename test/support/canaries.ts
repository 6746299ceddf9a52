import { createHash } from 'node:crypto'

/** Made up, and never in one piece in this repository. */
function made(seed: string, length: number, alphabet: 'base64' | 'base64url' | 'hex' = 'base64url'): string {
  let text = ''
  for (let i = 0; text.length < length; i++) text += createHash('sha256').update(`${seed} ${i}`).digest(alphabet)
  return text.slice(0, length)
}

const letters = (seed: string, length: number) =>
  made(seed, length * 4)
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(0, length)

function pem(): string {
  const lines =
    made('pem', 1500, 'base64')
      .replaceAll('=', 'A')
      .match(/.{1,64}/g) ?? []
  return ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----'].join('\n')
}

const SERVICE_ACCOUNT = JSON.stringify({ type: 'service_account', client_id: made('id', 21), note: made('note', 60) })

/** Twenty secrets of the shapes that secrets have: the variable they are in, its value, and what is secret of it. */
export const CANARIES: { name: string; value: string; secret: string }[] = [
  ['ANTHROPIC_API_KEY', `sk-ant-api03-${made('anthropic', 80)}`],
  ['OPENAI_API_KEY', `sk-proj-${made('openai', 60)}`],
  ['GOOGLE_API_KEY', `AIza${made('google', 35)}`],
  ['AWS_ACCESS_KEY_ID', `AKIA${letters('aws', 16).toUpperCase()}`],
  ['AWS_SECRET_ACCESS_KEY', made('aws secret', 40, 'base64')],
  ['GITHUB_TOKEN', `ghp_${letters('github', 36)}`],
  ['GH_FINE_TOKEN', `github_pat_${letters('fine', 22)}_${letters('grained', 59)}`],
  ['GITLAB_TOKEN', `glpat-${made('gitlab', 20)}`],
  ['SLACK_BOT_TOKEN', `xoxb-4821937465-${letters('slack', 24)}`],
  ['NPM_TOKEN', `npm_${letters('npm', 36)}`],
  ['JWT_TOKEN', `eyJhbGciOiJIUzI1NiJ9.${made('jwt', 120)}.${made('signature', 43)}`],
  ['SIGNING_SECRET', made('signing', 64, 'hex')],
  ['TLS_PRIVATE_KEY', pem()],
  ['GCP_CREDENTIALS', SERVICE_ACCOUNT],
  ['ADMIN_PASSWORD', `it's "so" \\ hard/to ${letters('word', 6)} für & <you> 100% ✓`],
  ['MAIL_PASSWORD', `correct ${letters('horse', 7)} battery ${letters('staple', 8)}`],
  ['SHORT_PASSWORD', `${letters('short', 6)}#9`],
  ['LONG_SECRET', made('long', 2048, 'base64')],
  ['SESSION_SECRET', `{${letters('uuid', 8)}-${letters('id', 4)}-${letters('uu', 12)}}=+/`],
  ['DATABASE_URL', `postgres://app:${encodeURIComponent(`p@ss/${letters('db', 10)}`)}@db.example.org:5432/app`],
].map(([name = '', value = '']) => ({
  name,
  value,
  secret: name === 'DATABASE_URL' ? `p@ss/${letters('db', 10)}` : value,
}))
