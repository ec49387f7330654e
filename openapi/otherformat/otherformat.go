package otherformat

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// maxText limits the part of a file that is not JSON that is examined, in bytes: formats are recognized by their
// beginnings.
const maxText = 64 << 10

// Describe names the format of a file and the next step, as in "a Postman collection; …", if it is in one of the known
// formats that are not OpenAPI; "" otherwise.
func Describe(text []byte) string {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	if len(text) == 0 {
		return ""
	}
	if text[0] == '{' || text[0] == '[' {
		if _, err := jsonscan.Scan(text, jsonscan.Options{}); err == nil {
			return describeJSON(text)
		}
	}
	head := text[:min(len(text), maxText)]
	for _, f := range textFormats {
		if f.form.Match(head) {
			return f.what
		}
	}
	return ""
}

const (
	convert    = "convert it to OpenAPI first"
	postman    = "a Postman collection; export the definition of the API from Postman as OpenAPI, or convert the collection"
	insomnia   = "an export of Insomnia; export the design document, or convert the requests to OpenAPI"
	asyncAPI   = "an AsyncAPI document; it describes messages, not HTTP requests: give the OpenAPI document of the service, if it has one"
	graphQL    = "a GraphQL schema; a GraphQL API has no REST operations: give the OpenAPI document of a REST API of the service, if it has one"
	overlay    = "an OpenAPI overlay; list it in apis[].overlays, beside the spec of the document that it changes"
	arazzo     = "an Arazzo document; give the OpenAPI document that it refers to in sourceDescriptions"
	oldSwagger = "a resource listing of Swagger 1.x; convert it to OpenAPI first, or give the document of a newer version of the service"
	catalog    = "an API catalog (RFC 9727); discovery with api_catalog makes APIs of its entries, or give the URL of one of them"
)

// textFormats are the formats that are not JSON, by their beginnings.
var textFormats = []struct {
	form *regexp.Regexp
	what string
}{
	{regexp.MustCompile(`\A#%RAML\b`), "a RAML document; " + convert},
	{regexp.MustCompile(`(?m)^["']?asyncapi["']?[ \t]*:`), asyncAPI},
	{regexp.MustCompile(`(?m)^["']?arazzo["']?[ \t]*:[ \t]*["']?\d`), arazzo},
	{regexp.MustCompile(`(?m)^["']?overlay["']?[ \t]*:[ \t]*["']?\d`), overlay},
	{regexp.MustCompile(`(?m)^type[ \t]*:[ \t]*["']?(?:collection|spec)\.insomnia\.rest/|^__export_format[ \t]*:`), insomnia},
	{regexp.MustCompile(`(?m)^swaggerVersion[ \t]*:`), oldSwagger},
	{regexp.MustCompile(`(?m)^FORMAT:[ \t]*1A\b`), "an API Blueprint document; " + convert},
	{regexp.MustCompile(`(?m)\A(?:(?://|/\*|\s\*).*\n|\s)*syntax[ \t]*=[ \t]*["']proto[23]["']`), "a definition of Protocol Buffers; give the OpenAPI document that a gateway for it generates, such as that of grpc-gateway"},
	{regexp.MustCompile(`(?s)\A<.*\bhttp://(?:schemas\.xmlsoap\.org|www\.w3\.org/ns)/wsdl\b`), "a WSDL document; a SOAP service needs a REST API with an OpenAPI document in front of it"},
	{regexp.MustCompile(`(?s)\A<.*\bhttp://wadl\.dev\.java\.net/`), "a WADL document; " + convert},
	{regexp.MustCompile(`(?s)\A<(?:.*<)?(?:edmx:)?Edmx\b`), "the metadata of an OData service; " + convert},
	{regexp.MustCompile(`(?m)^(?:extend[ \t]+)?(?:(?:type|interface|input|enum)[ \t]+[A-Za-z_]\w*[^:\n]*\{|schema[ \t]*(?:@[^{\n]*)?\{|scalar[ \t]+[A-Z]\w*[ \t]*$|union[ \t]+[A-Z]\w*[ \t]*=)`), graphQL},
}

// describeJSON recognizes a format by the members of its root.
func describeJSON(text []byte) string {
	if text[0] == '[' {
		return documentList(text)
	}
	has := func(pointer string) bool { return jsonscan.At(text, pointer) != nil }
	is := func(pointer, value string) bool { return jsonscan.StringAt(text, pointer) == value }
	switch {
	case has("/openapi") || has("/swagger"):
	case isPostman(text, "/info") || isPostman(text, "/collection/info"):
		return postman
	case is("/_type", "export") && has("/resources"), strings.Contains(jsonscan.StringAt(text, "/type"), ".insomnia.rest/"):
		return insomnia
	case has("/asyncapi"):
		return asyncAPI
	case has("/arazzo"):
		return arazzo
	case has("/overlay") && has("/actions"):
		return overlay
	case has("/data/__schema") || has("/__schema"):
		return graphQL
	case has("/swaggerVersion") && has("/apis"):
		return oldSwagger
	case is("/kind", "discovery#restDescription"):
		return "a Google API discovery document; " + convert
	case has("/log/entries") && has("/log/creator"):
		return "a recording of HTTP requests (HAR); generate an OpenAPI document of it first"
	case has("/linkset"):
		return catalog
	case has("/configUrl") || has("/urls") && has("/validatorUrl"), jsonscan.KindOf(jsonscan.At(text, "/urls")) == jsonscan.Array:
		if list := documentList(jsonscan.At(text, "/urls")); list != "" {
			return list
		}
		if url := jsonscan.StringAt(text, "/url"); url != "" {
			return listOf([]string{url})
		}
	case strings.Contains(jsonscan.StringAt(text, "/$schema"), "json-schema.org/"):
		return "a JSON Schema; give the OpenAPI document whose operations use it"
	}
	return ""
}

func isPostman(text []byte, info string) bool {
	schema := jsonscan.StringAt(text, info+"/schema")
	return jsonscan.At(text, info+"/_postman_id") != nil || strings.Contains(schema, "getpostman.com/") || strings.Contains(schema, "schema.postman.com/")
}

// documentList recognizes the lists of documents of springdoc and Springfox (/v3/api-docs/swagger-config,
// /swagger-resources): each item has a name and the location of a document.
func documentList(list []byte) string {
	if jsonscan.KindOf(list) != jsonscan.Array {
		return ""
	}
	var locations []string
	for item := range jsonscan.Elements(list) {
		location := jsonscan.StringAt(item, "/url")
		if location == "" {
			location = jsonscan.StringAt(item, "/location")
		}
		if location == "" || jsonscan.At(item, "/name") == nil {
			return ""
		}
		locations = append(locations, location)
	}
	if locations == nil {
		return ""
	}
	return listOf(locations)
}

// mostLocations is the number of locations that a message names.
const mostLocations = 5

func listOf(locations []string) string {
	n := len(locations)
	var named []string
	for _, l := range locations[:min(n, mostLocations)] {
		named = append(named, fmt.Sprintf("%q", text.TruncateRunes(l, 200)))
	}
	text := strings.Join(named, ", ")
	if n > mostLocations {
		text += fmt.Sprintf(" and %d more", n-mostLocations)
	}
	if n == 1 {
		return "the list of documents of an API viewer; give the URL of the document, which is " + text + " at the same server"
	}
	return "the list of documents of an API viewer; give the URL of each document, which are " + text + " at the same server"
}
