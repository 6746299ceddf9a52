import { expect, it } from 'vitest'
import { findSecrets, secretsInHeaders } from '../src/library/project/secrets.js'

it('takes variables whose names say that they are secret', () => {
  const env = {
    OPENAI_API_KEY: 'k-openai',
    GITHUB_TOKEN: 'k-github',
    STRIPE_SECRET_LIVE: 'k-stripe',
    PGPASSWORD: 'k-pg',
    TLS_PRIVATE_KEY: 'k-tls',
    AWS_SECRET_ACCESS_KEY: 'k/aws',
    AWS_SESSION_TOKEN: 'k-session',
    GCP_CREDENTIALS: 'k-gcp',
    MY_PAT: 'k-pat',
    PATH: '/usr/bin:/bin',
    KEYBOARD: 'us',
    TOKENIZERS_PARALLELISM: 'false',
    AWS_REGION: 'eu-central-1',
    AWS_PROFILE: 'default',
    MAX_TOKENS: '4096',
    COMPATIBLE: 'yes',
    EMPTY_TOKEN: '',
    GONE_TOKEN: undefined,
  }
  expect(findSecrets({ env }).map(({ name }) => name)).toEqual(Object.keys(env).slice(0, 9))
})

it('takes no path, and nothing that an ordinary variable says too', () => {
  const env = {
    GOOGLE_APPLICATION_CREDENTIALS: '/home/ada/key.json',
    SSH_PRIVATE_KEY: '~/.ssh/id_ed25519',
    DB_PASSWORD: 'workstation-7',
    HOSTNAME: 'workstation-7',
    AWS_SECRET_ACCESS_KEY: '/aB3dE5fG7hI9jK1lM3nO5pQ7/rS9tU1vW3xY',
  }
  expect(findSecrets({ env }).map(({ name }) => name)).toEqual(['AWS_SECRET_ACCESS_KEY'])
  expect(findSecrets({ env, named: ['DB_PASSWORD', 'SSH_PRIVATE_KEY'] }).map(({ name }) => name)).toEqual([
    'SSH_PRIVATE_KEY',
    'DB_PASSWORD',
    'AWS_SECRET_ACCESS_KEY',
  ])
})

it('takes the password of an address, as it is written and as it is meant', () => {
  const env = {
    DATABASE_URL: 'postgres://app:p%40ss-word@db.example.org/app',
    HTTPS_PROXY: 'http://me:proxy-pass@10.0.0.1:3128',
    REPOSITORY: 'https://ghx_0123456789abcdef@example.org/a.git',
    HOMEPAGE: 'https://example.org/@me:x',
  }
  expect(findSecrets({ env })).toEqual([
    { name: 'DATABASE_URL', value: 'p%40ss-word' },
    { name: 'DATABASE_URL', value: 'p@ss-word' },
    { name: 'HTTPS_PROXY', value: 'proxy-pass' },
    { name: 'REPOSITORY', value: 'ghx_0123456789abcdef' },
  ])
})

it('takes what a key file in a variable calls secret', () => {
  const file = JSON.stringify({ type: 'service_account', private_key: 'the-key', client_secret: 'the-secret' })
  expect(findSecrets({ env: { GCP_CREDENTIALS: file } })).toEqual([
    { name: 'GCP_CREDENTIALS', value: file },
    { name: 'GCP_CREDENTIALS.private_key', value: 'the-key' },
    { name: 'GCP_CREDENTIALS.client_secret', value: 'the-secret' },
  ])
})

it('takes the keys in headers, without the word before them', () => {
  const headers = {
    Authorization: 'Bearer the-token',
    'x-api-key': 'the-key',
    'Proxy-Authorization': `Basic ${Buffer.from('me:the-password').toString('base64')}`,
    Accept: 'application/json',
  }
  expect(secretsInHeaders('provider local', headers)).toEqual([
    { name: 'provider local Authorization', value: 'the-token' },
    { name: 'provider local x-api-key', value: 'the-key' },
    { name: 'provider local Proxy-Authorization', value: Buffer.from('me:the-password').toString('base64') },
    { name: 'provider local Proxy-Authorization', value: 'the-password' },
  ])
})
