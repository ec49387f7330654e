package hostile

import (
	"fmt"
	"strconv"
	"strings"
)

// A Kind is one way to write a document that costs much.
type Kind struct {
	Name string
	// N is a size at which a document of the kind is small: tens of kilobytes.
	N int
	// Make writes the document of a size. One of 10 × N has about ten times the bytes.
	Make func(n int) string
}

// Kinds returns all kinds. Names are unique.
func Kinds() []Kind {
	var all []Kind
	for _, list := range [][]Kind{unions, compositions, references, objects, values, operations, parts, texts, standards} {
		all = append(all, list...)
	}
	return all
}

// repeat writes a part for each i below n, with commas between.
func repeat(n int, part func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(part(i))
	}
	return b.String()
}

// list is repeat for a text in which "§" stands for i.
func list(n int, format string) string {
	return repeat(n, func(i int) string {
		return strings.ReplaceAll(format, "§", strconv.Itoa(i))
	})
}

// document writes a document with the given members.
func document(members string) string {
	return `{"openapi":"3.1.0","info":{"title":"H","version":"1"},"servers":[{"url":"https://api.example.com"}],` + members + `}`
}

const operationID = `"operationId":"a",`

// body writes a document whose operation takes and answers values of a schema. schemas are those of its components.
func body(schema, schemas string) string {
	return document(`"paths":{"/a":{"post":{` + operationID + `"requestBody":{"content":{"application/json":{"schema":` + schema + `}}},"responses":{"200":{"description":"OK","content":{"application/json":{"schema":` + schema + `}}}}}}},` +
		`"components":{"schemas":{` + schemas + `}}`)
}

// first is how most kinds refer to their schemas.
const first = `{"$ref":"#/components/schemas/S0"}`

// next is the schema after i, the first after the last.
func next(i, n int) string { return fmt.Sprintf(`{"$ref":"#/components/schemas/S%d"}`, (i+1)%n) }

// schemas writes S0 to S(n-1).
func schemas(n int, schema func(i int) string) string {
	return repeat(n, func(i int) string { return fmt.Sprintf(`"S%d":%s`, i, schema(i)) })
}

// paths writes a document with n paths.
func paths(n int, item func(i int) string, members string) string {
	return document(`"paths":{` + repeat(n, func(i int) string { return fmt.Sprintf(`"/p%d":%s`, i, item(i)) }) + `}` + members)
}
