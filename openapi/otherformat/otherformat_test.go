package otherformat

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDescribe checks the beginnings of files of other formats, and texts in no known format (pains row 199).
func TestDescribe(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"info":{"_postman_id":"1","name":"x"},"item":[]}`, "a Postman collection; "},
		{`{"info":{"name":"x","schema":"https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},"item":[]}`, "a Postman collection; "},
		{`{"collection":{"info":{"schema":"https://schema.postman.com/json/collection/v2.0.0/collection.json"}}}`, "a Postman collection; "},
		{`{"_type":"export","__export_format":4,"resources":[]}`, "an export of Insomnia; "},
		{"type: collection.insomnia.rest/5.0\nname: x\n", "an export of Insomnia; "},
		{"_type: export\n__export_format: 4\n", "an export of Insomnia; "},
		{"asyncapi: 3.0.0\ninfo: {title: x}\n", "an AsyncAPI document; "},
		{`{"asyncapi":"2.6.0"}`, "an AsyncAPI document; "},
		{"# events\n'asyncapi': 2.6.0\n", "an AsyncAPI document; "},
		{"#%RAML 1.0\ntitle: x\n", "a RAML document; "},
		{"<?xml version=\"1.0\"?>\n<wsdl:definitions xmlns:wsdl=\"http://schemas.xmlsoap.org/wsdl/\"/>", "a WSDL document; "},
		{"<description xmlns=\"http://www.w3.org/ns/wsdl\"/>", "a WSDL document; "},
		{`<application xmlns="http://wadl.dev.java.net/2009/02"/>`, "a WADL document; "},
		{`<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"/>`, "the metadata of an OData service; "},
		{"type Query {\n  orders(first: Int): [Order!]!\n}\n", "a GraphQL schema; "},
		{"# the schema\nschema @link(url: \"x\") {\n  query: Query\n}\n", "a GraphQL schema; "},
		{"scalar DateTime\n", "a GraphQL schema; "},
		{`{"data":{"__schema":{"types":[]}}}`, "a GraphQL schema; "},
		{"// a comment\nsyntax = \"proto3\";\npackage x;\n", "a definition of Protocol Buffers; "},
		{"FORMAT: 1A\n\n# Orders\n", "an API Blueprint document; "},
		{`{"swaggerVersion":"1.2","apis":[{"path":"/pets"}]}`, "a resource listing of Swagger 1.x; "},
		{`{"kind":"discovery#restDescription","name":"x"}`, "a Google API discovery document; "},
		{`{"log":{"version":"1.2","creator":{},"entries":[]}}`, "a recording of HTTP requests (HAR); "},
		{"overlay: 1.0.0\nactions: []\n", "an OpenAPI overlay; "},
		{"arazzo: 1.0.1\n", "an Arazzo document; "},
		{`{"linkset":[{"anchor":"x"}]}`, "an API catalog (RFC 9727); "},
		{
			`[{"name":"default","url":"/v3/api-docs","swaggerVersion":"3.0"}]`,
			`the list of documents of an API viewer; give the URL of the document, which is "/v3/api-docs" at the same server`,
		},
		{`[{"name":"default","location":"/v2/api-docs"},{"name":"b","location":"/v2/api-docs?group=b"}]`, "the list of documents of an API viewer; give the URL of each document, which are"},
		{`{"configUrl":"/v3/api-docs/swagger-config","urls":[{"url":"/v3/api-docs/a","name":"a"}]}`, "the list of documents of an API viewer; "},
		{`{"configUrl":"/v3/api-docs/swagger-config","url":"/v3/api-docs","validatorUrl":""}`, "the list of documents of an API viewer; "},
		{`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}`, "a JSON Schema; "},

		{"", ""},
		{"openapi: 3.1.0\ninfo: {title: asyncapi}\n", ""},
		{`{"openapi":"3.1.0","info":{"_postman_id":"x"}}`, ""},
		{`{"swagger":"2.0","$schema":"https://json-schema.org/draft-07/schema"}`, ""},
		{"- https://orders.internal/openapi.json\n", ""},
		{"apis:\n  - spec: asyncapi.yaml\n    overlays: [overlay.yaml]\n", ""},
		{`{"apis":[{"spec":"a"}]}`, ""},
		{`["https://orders.internal/openapi.json"]`, ""},
		{"type: object\n", ""},
		{"schema_profile: full\n", ""},
		{`{"urls":[1]}`, ""},
		{`{"asyncapi"`, ""},
		{"<html><head><title>asyncapi</title></head></html>", ""},
	} {
		got := Describe([]byte(tt.text))
		if (tt.want == "") != (got == "") || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s\ngot  %q\nwant %q…", tt.text, got, tt.want)
		}
	}
}

// FuzzDescribe checks that nothing panics, and that a text with an OpenAPI version is no other format.
func FuzzDescribe(f *testing.F) {
	f.Add([]byte(`{"openapi":"3.1.0"}`))
	f.Add([]byte(`[{"name":"a","url":"b"}]`))
	f.Add([]byte("type Query {"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if what := Describe(text); strings.ContainsAny(what, "\r\n") {
			t.Errorf("a message of several lines: %q", what)
		}
	})
}
