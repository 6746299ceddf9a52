export function log(level, text) {
  console.error(`${level}: ${text}`)
}
