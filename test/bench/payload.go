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
}

var (
	small = payload{name: "small", bytes: 1 << 10}
	large = payload{name: "large", bytes: 256 << 10}
)

// parts returns what stands before and after the id in the answer. The rows are what real answers are made of:
// short names, numbers, text with quotes, line breaks and letters beyond ASCII, which cost something to escape.
func (p payload) parts() (before, after string) {
	before = `{"id":`
	var b strings.Builder
	b.WriteString(`,"name":"Ærø \"Havn\"","open":true,"rows":[`)
	for i := 0; ; i++ {
		row := fmt.Sprintf(`{"sku":"ROPE-%d","quantity":%d,"price":%d.50,"text":"line one\nline \"two\" of row %d","gone":null}`, i%97, i%13, i%211, i)
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
              sku: {type: string}
              quantity: {type: integer}
              price: {type: number}
              text: {type: string}
              gone: {type: string, nullable: true}
`
