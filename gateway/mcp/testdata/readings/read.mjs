// What JavaScript makes of each document, as Request.json() in a proxy would: see readings_test.go.
import { readFileSync } from 'node:fs'

const text = s => '"' + [...Buffer.from(s).toString()].map(c =>
  c >= ' ' && c <= '~' && c !== '"' && c !== '\\' ? c : '\\' + c.codePointAt(0).toString(16) + ';').join('') + '"'

function dump(v) {
  if (v === null || v === undefined) return 'null'
  if (typeof v === 'boolean') return String(v)
  if (typeof v === 'string') return text(v)
  if (Array.isArray(v)) return '[' + v.map(dump).join(',') + ']'
  if (typeof v === 'object') return '{' + Object.entries(v).map(([k, e]) => text(k) + ':' + dump(e)).sort().join(',') + '}'
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(v + 0)
  return bytes.toString('hex')
}

function read(body) {
  let message
  try {
    message = JSON.parse(new TextDecoder().decode(body))
  } catch {
    return null
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return 'no message'
  const params = typeof message.params === 'object' && message.params !== null && !Array.isArray(message.params) ? message.params : {}
  const own = (o, k) => Object.hasOwn(o, k) ? o[k] : null
  return dump([own(message, 'method'), own(params, 'name') ?? '', own(params, 'arguments')])
}

console.log(JSON.stringify(JSON.parse(readFileSync(0)).map(d => read(Buffer.from(d, 'base64')))))
