package hostile

import (
	"fmt"
	"strings"
)

// responses are those of operations that are about something else.
const responses = `"responses":{"200":{"description":"OK"}}`

// operations are documents of many operations.
var operations = []Kind{
	{"path-item-shared", 500, func(n int) string {
		return document(`"paths":{"/p":{"post":{"operationId":"a","parameters":[` + list(20, `{"name":"q§","in":"query","schema":{"type":"string"}}`) + `],"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{` +
			list(50, `"b§":{"type":"string","description":"text"}`) + `}}}}},` + responses + `}},` + list(n, `"/p§":{"$ref":"#/paths/~1p"}`) + `}`)
	}},
	{"properties-shared", 100, func(n int) string {
		return paths(n, func(i int) string {
			return fmt.Sprintf(`{"post":{"operationId":"o%d","requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/B"}}}},%s}}`, i, responses)
		}, `,"components":{"schemas":{"B":{"type":"object","properties":{`+list(200, `"p§":{"type":"strng","default":5}`)+`}}}}`)
	}},
	{"problems-shared", 100, func(n int) string {
		return paths(n, func(i int) string {
			return fmt.Sprintf(`{"post":{"operationId":"o%d","requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/B%d"}}}},%s}}`, i, i%10, responses)
		}, `,"components":{"schemas":{`+repeat(10, func(i int) string {
			return fmt.Sprintf(`"B%d":{"type":"object","properties":{`, i) + list(n, `"p§":{"type":"string","pattern":"(","default":5}`) + `}}`
		})+`}}`)
	}},
	{"all-of-chain-by-operation", 100, func(n int) string {
		return bodies(n, n, func(i int) string {
			if i == 0 {
				return `{"type":"object","properties":{"z":{"type":"string"}}}`
			}
			return fmt.Sprintf(`{"allOf":[%s,{"properties":{"p%d":{"type":"string"}},"required":["p%[2]d"]}]}`, to(i-1), i)
		})
	}},
	{"any-of-ring-by-operation", 200, func(n int) string {
		return bodies(min(n, 200), n, func(i int) string {
			return fmt.Sprintf(`{"anyOf":[%s,%s],"title":"%s","properties":{"x%d":{"type":"integer"}}}`, next(i, n), to((i*7+3)%n), strings.Repeat("t", 300), i)
		})
	}},
	{"mutual-properties-by-operation", 60, func(n int) string {
		return bodies(n, n, func(i int) string {
			return `{"type":"object","properties":{` + repeat(8, func(j int) string { return fmt.Sprintf(`"r%d":%s`, j, to((i*31+j*17)%n)) }) + `}}`
		})
	}},
	{"problems-by-operation", 200, func(n int) string {
		return paths(n, func(i int) string {
			return fmt.Sprintf(`{"get":{"operationId":"o%d","parameters":[{"name":"q","in":"qery","schema":{"type":"strng"}},{"name":"r","in":"query","schema":{"type":"string","pattern":"(","default":5}}],"responses":{"200":{"description":5}}}}`, i)
		}, "")
	}},
	{"operations", 500, func(n int) string {
		return paths(n, func(i int) string { return fmt.Sprintf(`{"get":{"operationId":"o%d",%s}}`, i, responses) }, "")
	}},
	{"operation-ids-twin", 500, func(n int) string {
		return paths(n, func(i int) string { return `{"get":{"operationId":"same",` + responses + `}}` }, "")
	}},
	{"operation-ids-clash", 500, func(n int) string {
		return paths(n, func(i int) string {
			return fmt.Sprintf(`{"get":{"operationId":"%s%s",%s}}`, strings.Repeat("a", 70), strings.Repeat("-", i%900+1), responses)
		}, "")
	}},
	{"paths-alike", 500, func(n int) string {
		return document(`"paths":{` + list(n, `"/a/{p§}/b/{q}":{"get":{`+responses+`}}`) + `}`)
	}},
	{"paths-suggesting", 300, func(n int) string {
		return document(`"paths":{` + list(n, `"/a/{variable§}":{"get":{"parameters":[{"name":"variables§","in":"path","required":true}],`+responses+`}}`) + `}`)
	}},
	{"path-parameters", 50, func(n int) string {
		return document(`"paths":{` + repeat(n, func(i int) string {
			return fmt.Sprintf(`"/p%d`, i) + strings.ReplaceAll(list(90, `/{v§}`), ",", "") + `":{"get":{"parameters":[` + list(90, `{"name":"v§","in":"path","required":true,"schema":{"type":"string"}}`) + `],` + responses + `}}`
		}) + `}`)
	}},
	{"parameters-of-items", 50, func(n int) string {
		return paths(n, func(i int) string {
			return `{"parameters":[` + list(100, `{"$ref":"#/components/parameters/P§"}`) + `],"get":{` + responses + `},"put":{` + responses + `}}`
		}, `,"components":{"parameters":{`+list(100, `"P§":{"name":"p§","in":"query","description":"text of it","schema":{"type":"string","enum":["a","b"]}}`)+`}}`)
	}},
	{"parameters-twin", 100, func(n int) string {
		return document(`"paths":{"/a":{"get":{"parameters":[` + repeat(min(n, 1000), func(i int) string {
			return `{"name":"same","in":"query"}`
		}) + `],` + responses + `}},` + list(n, `"/b§":{"get":{"parameters":[{"name":"a","in":"query"},{"name":"a","in":"header"},{"name":"A","in":"query"}],`+responses+`}}`) + `}`)
	}},
	{"tags", 200, func(n int) string {
		return document(`"tags":[` + list(n, `{"name":"t§","description":"about t§"}`) + `],"paths":{` + list(n, `"/p§":{"get":{"tags":["t§","t0","t1","t2"],`+responses+`}}`) + `}`)
	}},
	{"additional-operations", 500, func(n int) string {
		return document(`"paths":{"/a":{"additionalOperations":{` + list(n, `"M§":{`+responses+`}`) + `}}}`)
	}},
	{"invalid-operations", 500, func(n int) string {
		return document(`"paths":{` + list(n, `"/p§":{"get":{"parameters":[{"name":"x","in":"path"},5,{"in":"query"}],"requestBody":7,"responses":[1]}}`) + `}`)
	}},
	{"unknown-members", 1_000, func(n int) string {
		return document(`"paths":{"/a":{"get":{` + list(n, `"parametres§":[]`) + `,` + responses + `}}}`)
	}},
	{"references-mistyped", 500, func(n int) string {
		return document(`"paths":{` + list(n, `"/p§":{"get":{"parameters":[{"$ref":"#/components/parameters/Pag§"}],`+responses+`}}`) + `},"components":{"parameters":{` +
			list(n, `"Page§":{"name":"p","in":"query"}`) + `}}`)
	}},
}

// parts are documents of many parts of operations.
var parts = []Kind{
	{"servers-and-variables", 200, func(n int) string {
		return document(`"x":[],"servers":[` + list(n, `{"url":"https://{a}.{b}.example.com/v§","variables":{"a":{"default":"x","enum":["x","y§"]},"b":{"default":"y"}}}`) + `],"paths":{` +
			list(n, `"/p§":{"servers":[{"url":"https://{c}.example.com/§","variables":{"c":{"default":"x"}}}],"get":{`+responses+`}}`) + `}`)
	}},
	{"security", 200, func(n int) string {
		return document(`"components":{"securitySchemes":{` + list(n, `"s§":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"https://a.example/t","scopes":{"a§":"d"}}}}`) + `}},"security":[` +
			list(min(n, 900), `{"s§":["a§"]}`) + `],"paths":{` + list(n, `"/p§":{"get":{`+responses+`}}`) + `}`)
	}},
	{"security-unknown", 200, func(n int) string {
		return document(`"components":{"securitySchemes":{` + list(n, `"scheme§":{"type":"http","scheme":"bearer"}`) + `}},"paths":{` + list(n, `"/p§":{"get":{"security":[{"shceme§":[]}],`+responses+`}}`) + `}`)
	}},
	{"responses", 100, func(n int) string {
		return paths(n, func(i int) string {
			return `{"get":{"responses":{` + repeat(100, func(k int) string {
				return fmt.Sprintf(`"%d":{"description":"d","content":{"application/json":{"schema":{"type":"object","properties":{"a":{"type":"string"}}}}}}`, 200+k)
			}) + `}}}`
		}, "")
	}},
	{"headers", 100, func(n int) string {
		return document(`"paths":{"/a":{"get":{"responses":{"200":{"description":"d","headers":{` + list(n*10, `"X-H§":{"schema":{"type":"string"}}`) + `}}}}}}`)
	}},
	{"media-types", 500, func(n int) string {
		return document(`"paths":{"/a":{"post":{"requestBody":{"content":{` + list(min(n, 990), `"application/x§+json":{"schema":{"type":"object","properties":{"a":{"type":"string"}}}}`) + `}},"responses":{"200":{"description":"d","content":{` +
			list(n, `"application/y§+json":{"schema":{"type":"object","properties":{"a":{"type":"string"}}}}`) + `}}}}}}`)
	}},
	{"links", 200, func(n int) string {
		return document(`"paths":{` + list(n, `"/p§/{id}":{"get":{"operationId":"o§","parameters":[{"name":"id","in":"path","required":true}],"responses":{"200":{"description":"d","links":{"l":{"operationId":"o§","parameters":{"id":"$response.body#/id"}},"m":{"operationRef":"#/paths/~1p§~1{id}/get"}}}}}}`) + `}`)
	}},
	{"links-of-one", 500, func(n int) string {
		return document(`"paths":{"/p/{id}":{"get":{"operationId":"o","parameters":[{"name":"id","in":"path","required":true}],"responses":{"200":{"description":"d","links":{` +
			list(n, `"l§":{"operationId":"o","parameters":{"id":"$response.body#/a§/id"}}`) + `}}}}}}`)
	}},
	{"callbacks", 500, func(n int) string {
		return document(`"paths":{"/p":{"post":{"operationId":"o","callbacks":{` + list(n, `"c§":{"{$request.body#/url§}":{"post":{`+responses+`}}}`) + `},` + responses + `}}}`)
	}},
	{"webhooks", 500, func(n int) string {
		return document(`"webhooks":{` + list(n, `"w§":{"post":{"requestBody":{"content":{"application/json":{"schema":{"type":"object"}}}},`+responses+`}}`) + `},"paths":{"/p":{"get":{` + responses + `}}}`)
	}},
	{"extensions", 500, func(n int) string {
		return document(`"paths":{"/p":{"get":{` + list(n, `"x-mcp-§":{"a":§}`) + `,` + responses + `}}}`)
	}},
}

// texts are documents of long texts.
var texts = []Kind{
	{"description", 100_000, func(n int) string {
		return document(`"paths":{"/p":{"get":{"description":"` + strings.Repeat("word ", n/5) + `",` + responses + `}}}`)
	}},
	{"description-html", 20_000, func(n int) string {
		return document(`"paths":{"/p":{"get":{"description":"` + strings.Repeat("<b><i>", n/6) + `",` + responses + `}}}`)
	}},
	{"description-table", 20_000, func(n int) string {
		return document(`"paths":{"/p":{"get":{"description":"<table>` + strings.Repeat("<tr><td>a", n/9) + `",` + responses + `}}}`)
	}},
	{"description-ampersands", 20_000, func(n int) string {
		return document(`"paths":{"/p":{"get":{"description":"` + strings.Repeat("&amp;<!--", n/9) + `",` + responses + `}}}`)
	}},
	{"description-markdown", 20_000, func(n int) string {
		return document(`"paths":{"/p":{"get":{"description":"` + strings.Repeat("[a](b ![`*_", n/10) + `",` + responses + `}}}`)
	}},
	{"description-schema", 20_000, func(n int) string {
		return body(`{"type":"object","properties":{"a":{"type":"string","description":"`+strings.Repeat("w <br> \\n", n/9)+`"}}}`, "")
	}},
	{"description-one-word", 100_000, func(n int) string {
		return document(`"paths":{"/p":{"get":{"summary":"` + strings.Repeat("x", n) + `",` + responses + `}}}`)
	}},
	{"descriptions-distinct", 200, func(n int) string {
		return document(`"paths":{` + repeat(n, func(i int) string {
			return fmt.Sprintf(`"/p%d":{"get":{"summary":"%s",%s}}`, i, repeat(60, func(k int) string { return fmt.Sprintf("word%dx%d", i, k) }), responses)
		}) + `}`)
	}},
	{"invisible-characters", 20_000, func(n int) string {
		return document(`"paths":{"/p":{"get":{"description":"` + strings.Repeat("a\u200b\u00ad\u202e", n/9) + `",` + responses + `}}}`)
	}},
	{"other-scripts", 300, func(n int) string {
		return document(`"paths":{` + repeat(n, func(i int) string {
			return fmt.Sprintf(`"/資源%d":{"get":{"operationId":"取得資料%d","summary":"%s",%s}}`, i, i, strings.Repeat("資料を取得する", 10), responses)
		}) + `}`)
	}},
	{"long-names", 20, func(n int) string {
		return body(`{"type":"object","properties":{`+list(n, `"`+strings.Repeat("n", 5_000)+`§":{"type":"string"}`)+`}}`, "")
	}},
	{"pattern", 10_000, func(n int) string {
		return body(`{"type":"object","properties":{"a":{"type":"string","pattern":"`+strings.Repeat("(a|b)*", n/6)+`"}}}`, "")
	}},
	{"patterns", 1_000, func(n int) string {
		return body(`{"type":"object","properties":{`+list(n, `"p§":{"type":"string","pattern":"^[a-z]{1,§}x?$"}`)+`}}`, "")
	}},
}

// standards are documents of other versions, and in YAML.
var standards = []Kind{
	{"swagger-2", 200, func(n int) string {
		return `{"swagger":"2.0","info":{"title":"H","version":"1"},"host":"api.example.com","schemes":["https"],"consumes":["application/json"],"produces":["application/json","application/xml"],"paths":{` +
			list(n, `"/p§":{"post":{"operationId":"o§","parameters":[{"name":"b","in":"body","schema":{"$ref":"#/definitions/S§"}},{"name":"q","in":"query","type":"array","items":{"type":"string"},"collectionFormat":"multi"}],"responses":{"200":{"description":"d","schema":{"$ref":"#/definitions/S§"}}}}}`) +
			`},"definitions":{` + list(n, `"S§":{"type":"object","discriminator":"k","required":["k"],"properties":{"k":{"type":"string"},"a":{"$ref":"#/definitions/S0"}}}`) + `}}`
	}},
	{"swagger-2-ring", 100, func(n int) string {
		return `{"swagger":"2.0","info":{"title":"H","version":"1"},"host":"api.example.com","schemes":["https"],"paths":{"/p":{"post":{"operationId":"o","parameters":[{"name":"b","in":"body","schema":{"$ref":"#/definitions/S0"}}],"responses":{"200":{"description":"d","schema":{"$ref":"#/definitions/S0"}}}}}},"definitions":{` +
			repeat(n, func(i int) string {
				return fmt.Sprintf(`"S%d":{"discriminator":"k","required":["k"],"properties":{"k":{"type":"string"}},"allOf":[{"$ref":"#/definitions/S%d"}]}`, i, (i+1)%n)
			}) + `}}`
	}},
	{"yaml", 500, func(n int) string {
		var b strings.Builder
		b.WriteString("openapi: 3.1.0\ninfo: {title: H, version: '1'}\nservers: [{url: 'https://api.example.com'}]\npaths:\n")
		for i := range n {
			fmt.Fprintf(&b, "  /p%d:\n    get:\n      operationId: o%d\n      description: >-\n        some text\n        and more\n      responses: {'200': {description: OK}}\n", i, i)
		}
		return b.String()
	}},
	{"yaml-anchors", 200, func(n int) string {
		var b strings.Builder
		b.WriteString("openapi: 3.1.0\ninfo: {title: H, version: '1'}\nservers: [{url: 'https://api.example.com'}]\nx: &r {'200': {description: OK}}\npaths:\n")
		for i := range n {
			fmt.Fprintf(&b, "  /p%d: {get: {operationId: o%d, responses: *r}}\n", i, i)
		}
		return b.String()
	}},
	{"keys-twin", 2_000, func(n int) string {
		return document(`"paths":{` + repeat(n, func(i int) string { return `"/p":{"get":{` + responses + `}}` }) + `}`)
	}},
	{"nulls", 2_000, func(n int) string {
		return document(`"paths":{` + list(n, `"/p§":null`) + `,"/a":{"get":{"parameters":[` + repeat(min(n, 900), func(i int) string { return "null" }) + `],` + responses + `}}}`)
	}},
}

// bodies writes a document of n operations, each of which takes and answers one of some schemas.
func bodies(n, of int, schema func(i int) string) string {
	return paths(n, func(i int) string {
		content := `"content":{"application/json":{"schema":` + to(i) + `}}`
		return fmt.Sprintf(`{"post":{"operationId":"o%d","requestBody":{%s},"responses":{"200":{"description":"OK",%[2]s}}}}`, i, content)
	}, `,"components":{"schemas":{`+schemas(of, schema)+`}}`)
}
