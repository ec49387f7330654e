// node node.mjs PORT PORT: plain http, which reads the path as a browser's URL, and Express.
import http from 'node:http'
import express from 'express'

const orders = value => `route=orders\nvalue=${encodeURIComponent(value)}\n`
const files = value => `route=files\nvalue=${encodeURIComponent(value)}\n`
const search = (all, ref) => `route=search\nvalue=${all.length === 1 && all[0][0] === 'q' && typeof all[0][1] === 'string' ? encodeURIComponent(all[0][1]) : 'several'}\nref=${ref ?? ''}\n`
const foreign = path => `route=foreign ${path}\n`

http.createServer((request, response) => {
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  const url = new URL(request.url, 'http://localhost') // resolves dot segments, also those that are encoded
  let path
  try {
    path = decodeURIComponent(url.pathname)
  } catch {
    response.statusCode = 400
    return response.end('malformed\n')
  }
  if (path.startsWith('/v1/orders/') && !/^\/v1\/orders\/[^/]+\/refund$/.test(path)) return response.end(orders(path.slice(11)))
  if (path.startsWith('/v1/files/') && !/^\/v1\/files\/.+\/restore$/.test(path)) return response.end(files(path.slice(10)))
  if (path === '/v1/search') return response.end(search([...url.searchParams], request.headers['x-ref']))
  response.end(foreign(path))
}).listen(Number(process.argv[2]), '127.0.0.1')

const app = express()
app.disable('x-powered-by')
app.get('/v1/orders/:id', (request, response) => response.type('text/plain').send(orders(request.params.id)))
app.get(/^\/v1\/files\/(.+)$/, (request, response, next) => /.\/restore$/.test(request.params[0]) ? next() : response.type('text/plain').send(files(request.params[0])))
app.get('/v1/search', (request, response) => response.type('text/plain').send(search(Object.entries(request.query), request.headers['x-ref'])))
app.use((request, response) => response.type('text/plain').send(foreign(request.path)))
app.listen(Number(process.argv[3]), '127.0.0.1')
