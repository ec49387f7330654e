package main

import (
	"fmt"
	"strings"
)

// Every call carries a number of this many digits, and its answer must carry the same one: an answer that was
// meant for another call is found.
const idDigits = 9

// payload is the shape of an upstream answer: a JSON object of an exact size.
type payload struct {
	name  string
	bytes int
	about string // text in each row
}

// Two kinds of answers. The rows of small and large are what lists of records are made of: names, links, times,
// numbers, a null, a quoted word and a letter beyond ASCII; about one byte in eight is a quotation mark, which costs
// two bytes in a text block. The rows of prose carry a page of text each, as documents, mails and logs do.
var (
	small = payload{name: "small", bytes: 1 << 10, about: sentence}
	large = payload{name: "large", bytes: 256 << 10, about: sentence}
	prose = payload{name: "prose", bytes: 256 << 10, about: strings.Repeat(sentence+" ", 40)}
)

const sentence = "Three-strand polyester, sold by the metre; cut to length."

// parts returns what stands before and after the id in the answer.
func (p payload) parts() (before, after string) {
	before = `{"id":`
	var b strings.Builder
	b.WriteString(`,"name":"Ærøskøbing \"Havn\"","open":true,"rows":[`)
	for i := 0; ; i++ {
		row := fmt.Sprintf(`{"id":%d,"sku":"ROPE-%04d","name":"Mooring rope, %d mm","description":"%s",`+
			`"url":"https://shop.example/articles/rope-%04d","price":%d.50,"quantity":%d,"created_at":"2026-03-01T09:%02d:00Z","tags":["deck","rope"],"gone":null}`,
			1_000_000+i, i%9973, i%40+6, p.about, i%9973, i%211, i%13, i%60)
		rest := p.bytes - len(before) - idDigits - b.Len() - len(`],"pad":""}`)
		if len(row)+1 > rest {
			break
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(row)
	}
	b.WriteString(`],"pad":"`)
	b.WriteString(strings.Repeat("x", p.bytes-len(before)-idDigits-b.Len()-len(`"}`)))
	b.WriteString(`"}`)
	return before, b.String()
}

// body is the whole answer for one id.
func (p payload) body(id string) string {
	before, after := p.parts()
	return before + id + after
}

// document is the OpenAPI document of the upstream.
const document = `openapi: 3.0.3
info: {title: Bench, version: "1"}
paths:
  /small/{id}:
    get:
      operationId: small
      summary: One kibibyte
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer, minimum: 0}}
        - {name: verbose, in: query, schema: {type: boolean}}
        - {name: sort, in: query, schema: {type: string, enum: [up, down]}}
      responses: {"200": {description: ok, content: {application/json: {schema: {$ref: "#/components/schemas/Answer"}}}}}
  /large/{id}:
    get:
      operationId: large
      summary: A quarter of a mebibyte
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer, minimum: 0}}
      responses: {"200": {description: ok, content: {application/json: {schema: {$ref: "#/components/schemas/Answer"}}}}}
  /prose/{id}:
    get:
      operationId: prose
      summary: A quarter of a mebibyte, mostly text
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer, minimum: 0}}
      responses: {"200": {description: ok, content: {application/json: {schema: {$ref: "#/components/schemas/Answer"}}}}}
components:
  schemas:
    Answer:
      type: object
      properties:
        id: {type: integer}
        name: {type: string}
        open: {type: boolean}
        pad: {type: string}
        rows:
          type: array
          items:
            type: object
            properties:
              id: {type: integer, format: int64}
              sku: {type: string}
              name: {type: string}
              description: {type: string}
              url: {type: string, format: uri}
              price: {type: number}
              quantity: {type: integer}
              created_at: {type: string, format: date-time}
              tags: {type: array, items: {type: string}}
              gone: {type: string, nullable: true}
`
