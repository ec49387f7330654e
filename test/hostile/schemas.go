package hostile

import (
	"fmt"
	"strings"
)

// to is a reference to schema i.
func to(i int) string { return fmt.Sprintf(`{"$ref":"#/components/schemas/S%d"}`, i) }

// unions are documents of many alternatives.
var unions = []Kind{
	{"ring-of-discriminators", 100, func(n int) string {
		kinds := repeat(n, func(i int) string { return to(i) })
		return body(`{"oneOf":[`+kinds+`],"discriminator":{"propertyName":"k"}}`, schemas(n, func(i int) string {
			return fmt.Sprintf(`{"allOf":[%s,{"required":["k"],"properties":{"k":{"type":"string"},"p%d":{"type":"string","readOnly":true}}}],"discriminator":{"propertyName":"k"}}`, next(i, n), i)
		}))
	}},
	{"ring-of-one-of", 100, func(n int) string {
		return body(`{"oneOf":[`+repeat(n, func(i int) string { return to(i) })+`],"discriminator":{"propertyName":"k"}}`, schemas(n, func(i int) string {
			return fmt.Sprintf(`{"oneOf":[%s,%s],"allOf":[%s],"discriminator":{"propertyName":"k"},"required":["k"],"properties":{"k":{"type":"string"}}}`, next(i, n), to((i+7)%n), next(i, n))
		}))
	}},
	{"one-of-inline", 1_000, func(n int) string {
		return body(`{"oneOf":[`+list(n, `{"type":"object","properties":{"a§":{"type":"string"}}}`)+`]}`, "")
	}},
	{"one-of-consts", 1_000, func(n int) string {
		return body(`{"oneOf":[`+list(n, `{"type":"object","required":["k"],"properties":{"k":{"const":"v§"},"a§":{"type":"string"}}}`)+`],"discriminator":{"propertyName":"k"}}`, "")
	}},
	{"one-of-references", 1_000, func(n int) string {
		return body(`{"oneOf":[`+repeat(n, func(i int) string { return to(i) })+`]}`, schemas(n, func(i int) string {
			return fmt.Sprintf(`{"type":"object","required":["a%d"],"properties":{"a%[1]d":{"type":"string"}}}`, i)
		}))
	}},
	{"one-of-strings", 1_000, func(n int) string {
		return body(`{"type":"object","properties":{"p":{"oneOf":[`+list(n, `{"type":"string","const":"v§","title":"T"}`)+`]}}}`, "")
	}},
	{"any-of-inline", 1_000, func(n int) string {
		return body(`{"anyOf":[`+list(n, `{"type":"object","required":["a§"],"properties":{"a§":{"type":"integer"}}}`)+`]}`, "")
	}},
	{"any-of-nested", 20, func(n int) string {
		return body(first, schemas(n*10, func(i int) string {
			return `{"anyOf":[{"type":"string"},` + to((i+1)%(n*10)) + `,{"oneOf":[` + to((i*7+3)%(n*10)) + `,{"type":"integer"}]}]}`
		}))
	}},
	{"bases-with-kinds", 200, func(n int) string {
		return body(`{"anyOf":[`+repeat(n, func(i int) string { return to(i) })+`]}`, schemas(n, func(i int) string {
			return fmt.Sprintf(`{"type":"object","discriminator":{"propertyName":"k"},"properties":{"k":{"type":"string"}},"allOf":[%s,%s]}`, to((i+1)%n), to((i+n/2)%n))
		}))
	}},
	{"base-of-all", 1_000, func(n int) string {
		return body(to(0), schemas(n, func(i int) string {
			if i == 0 {
				return `{"type":"object","discriminator":{"propertyName":"k"},"properties":{"k":{"type":"string"}}}`
			}
			return fmt.Sprintf(`{"allOf":[%s,{"properties":{"p%d":{"type":"string"}}}]}`, to(0), i)
		}))
	}},
	{"mapping", 1_000, func(n int) string {
		return body(`{"oneOf":[`+repeat(n, func(i int) string { return to(i) })+`],"discriminator":{"propertyName":"k","mapping":{`+
			repeat(n, func(i int) string { return fmt.Sprintf(`"v%d":"#/components/schemas/S%d"`, i, i) })+`}}}`, schemas(n, func(i int) string {
			return `{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}}`
		}))
	}},
}

// compositions are documents of schemas that apply to the same value.
var compositions = []Kind{
	{"all-of-inline", 1_000, func(n int) string {
		return body(`{"allOf":[`+list(n, `{"type":"object","required":["a§"],"properties":{"a§":{"type":"string","readOnly":true}}}`)+`]}`, "")
	}},
	{"all-of-chain", 1_000, func(n int) string {
		return body(first, schemas(n, func(i int) string {
			if i == n-1 {
				return `{"type":"object"}`
			}
			return fmt.Sprintf(`{"allOf":[%s],"required":["a%d"],"properties":{"a%[2]d":{"type":"string","readOnly":true}}}`, to(i+1), i)
		}))
	}},
	{"all-of-ring", 1_000, func(n int) string {
		return body(first, schemas(n, func(i int) string {
			return fmt.Sprintf(`{"allOf":[%s,%s],"required":["a%d"],"properties":{"a%[3]d":{"type":"string","readOnly":true}}}`, next(i, n), to((i+n/2)%n), i)
		}))
	}},
	{"all-of-shared-base", 500, func(n int) string {
		return body(`{"type":"object","properties":{`+repeat(n, func(i int) string { return fmt.Sprintf(`"q%d":%s`, i, to(i)) })+`}}`,
			schemas(n, func(i int) string {
				return fmt.Sprintf(`{"allOf":[{"$ref":"#/components/schemas/B"},{"required":["x%d"],"properties":{"x%[1]d":{"type":"string"}}}]}`, i)
			})+`,"B":{"type":"object","properties":{`+list(n, `"b§":{"type":"string","readOnly":true}`)+`}}`)
	}},
	{"not-chain", 1_000, func(n int) string {
		return body(first, schemas(n, func(i int) string { return `{"not":` + next(i, n) + `}` }))
	}},
	{"if-chain", 500, func(n int) string {
		return body(first, schemas(n, func(i int) string {
			return fmt.Sprintf(`{"if":{"required":["a%d"]},"then":%s,"else":%s,"properties":{"a%[1]d":{"type":"string"}}}`, i, next(i, n), to((i+n/2)%n))
		}))
	}},
	{"dependent-schemas", 1_000, func(n int) string {
		return body(`{"type":"object","dependentSchemas":{`+list(n, `"a§":{"properties":{"b§":{"type":"string"}},"required":["b§"]}`)+`},"properties":{`+list(n, `"a§":{}`)+`}}`, "")
	}},
	{"dependent-required", 1_000, func(n int) string {
		return body(`{"type":"object","dependentRequired":{`+list(n, `"a§":["b§","a0"]`)+`},"properties":{`+list(n, `"a§":{}`)+`}}`, "")
	}},
	{"pattern-properties", 1_000, func(n int) string {
		return body(`{"type":"object","patternProperties":{`+list(n, `"^x§-.*[a-z]{3}$":{"type":"string"}`)+`},"properties":{`+list(n, `"x§-aaa":{"type":"string"}`)+`}}`, "")
	}},
}

// references are documents of schemas that lead to each other.
var references = []Kind{
	{"reference-chain", 1_000, func(n int) string {
		return body(first, schemas(n, func(i int) string { return next(i, n+1) })+`,"S`+fmt.Sprint(n)+`":{"type":"object","properties":{"a":{"type":"string"}}}`)
	}},
	{"property-chain", 500, func(n int) string {
		return body(first, schemas(n, func(i int) string {
			return fmt.Sprintf(`{"type":"object","description":"d%d","properties":{"a":%s}}`, i, next(i, n))
		}))
	}},
	{"property-web", 200, func(n int) string {
		return body(first, schemas(n, func(i int) string {
			return `{"type":"object","properties":{` + repeat(8, func(k int) string { return fmt.Sprintf(`"p%d":%s`, k, to((i*(k+3)+k+1)%n)) }) + `}}`
		}))
	}},
	{"web-by-operation", 100, func(n int) string {
		return paths(n, func(i int) string {
			return fmt.Sprintf(`{"post":{"operationId":"o%d","requestBody":{"content":{"application/json":{"schema":%s}}},"responses":{"200":{"description":"d","content":{"application/json":{"schema":%[2]s}}}}}}`, i, to(i))
		}, `,"components":{"schemas":{`+schemas(n, func(i int) string {
			return `{"type":"object","properties":{` + repeat(4, func(k int) string { return fmt.Sprintf(`"p%d":%s`, k, to((i*(k+3)+k+1)%n)) }) + `}}`
		})+`}}`)
	}},
	{"chain-with-examples", 200, func(n int) string {
		return body(first, schemas(n, func(i int) string {
			return fmt.Sprintf(`{"type":"object","properties":{"a":%s,"b":{"type":"string"}},"example":{"a":{"a":{"b":1}},"b":"x"}}`, next(i, n))
		}))
	}},
	{"defs", 1_000, func(n int) string {
		return body(first, `"S0":{"type":"object","$defs":{`+list(n, `"d§":{"type":"string","minLength":§}`)+`},"properties":{`+list(n, `"p§":{"$ref":"#/components/schemas/S0/$defs/d§"}`)+`}}`)
	}},
	{"ids-and-anchors", 500, func(n int) string {
		return body(first, schemas(n, func(i int) string {
			return fmt.Sprintf(`{"$id":"https://api.example.com/s%d","$anchor":"a%[1]d","type":"object","properties":{"a":{"$ref":"https://api.example.com/s%d#a%[2]d"}}}`, i, (i+1)%n)
		}))
	}},
	{"dynamic-references", 200, func(n int) string {
		return body(first, schemas(n, func(i int) string {
			return fmt.Sprintf(`{"$dynamicAnchor":"n%d","type":"object","$defs":{"x":{"$dynamicAnchor":"m%d"}},"properties":{"a":{"$dynamicRef":"#n%d"},"b":%s}}`, i%15, i%15, (i+1)%15, next(i, n))
		}))
	}},
	{"references-with-siblings", 500, func(n int) string {
		return body(first, schemas(n, func(i int) string {
			return fmt.Sprintf(`{"$ref":"#/components/schemas/S%d","description":"d%d","required":["a"]}`, i+1, i)
		})+`,"S`+fmt.Sprint(n)+`":{"type":"object","properties":{"a":{"type":"string"}}}`)
	}},
	{"missing-references", 1_000, func(n int) string {
		return body(`{"type":"object","properties":{`+list(n, `"p§":{"$ref":"#/components/schemas/Missing§"}`)+`}}`, "")
	}},
}

// objects are documents of large objects.
var objects = []Kind{
	{"properties", 1_000, func(n int) string {
		return body(`{"type":"object","properties":{`+list(n, `"property§":{"type":"string"}`)+`}}`, "")
	}},
	{"properties-read-only", 1_000, func(n int) string {
		return body(`{"type":"object","required":[`+list(n, `"p§"`)+`],"properties":{`+list(n, `"p§":{"type":"string","readOnly":true}`)+`}}`, "")
	}},
	{"required-undeclared", 1_000, func(n int) string {
		return body(`{"type":"object","required":[`+list(n, `"r§"`)+`],"properties":{"a":{"type":"string"}}}`, "")
	}},
	{"nested", 5, func(n int) string {
		depth := min(n, 45)
		return body(`{"type":"object","properties":{`+repeat(n, func(i int) string {
			return fmt.Sprintf(`"p%d":%s{"type":"string"}%s`, i, strings.Repeat(`{"type":"object","properties":{"a":`, depth), strings.Repeat(`}}`, depth))
		})+`}}`, "")
	}},
	{"tuples", 1_000, func(n int) string {
		return body(`{"type":"object","properties":{"t":{"type":"array","prefixItems":[`+list(n, `{"type":"string","minLength":§}`)+`]}}}`, "")
	}},
	{"names-alike", 1_000, func(n int) string {
		return body(`{"type":"object","properties":{`+repeat(n, func(i int) string { return fmt.Sprintf(`"p%s%d":{"type":"string"}`, strings.Repeat("-", i%50), i/50) })+`}}`, "")
	}},
	{"form-parts", 200, func(n int) string {
		return document(`"paths":{"/a":{"post":{"requestBody":{"content":{"multipart/form-data":{"schema":{"type":"object","properties":{` + list(n, `"p§":{"type":"string","format":"binary"}`) + `}},"encoding":{` +
			list(n, `"p§":{"contentType":"text/plain","headers":{"X-§":{"schema":{"type":"string"}}}}`) + `}}}},"responses":{}}}}`)
	}},
	{"xml-elements", 500, func(n int) string {
		return document(`"paths":{"/a":{"post":{"requestBody":{"content":{"application/xml":{"schema":` + first + `}}},"responses":{}}}},"components":{"schemas":{` +
			schemas(n, func(i int) string {
				return fmt.Sprintf(`{"type":"object","xml":{"name":"e%d"},"properties":{"a":%s,"b":{"type":"array","xml":{"wrapped":true},"items":%s}}}`, i, next(i, n), to((i+n/2)%n))
			}) + `}}`)
	}},
}

// values are documents of many values.
var values = []Kind{
	{"enum", 5_000, func(n int) string {
		return body(`{"type":"object","properties":{"e":{"enum":[`+list(n, `"e§"`)+`]}}}`, "")
	}},
	{"enum-of-numbers", 5_000, func(n int) string {
		return body(`{"type":"object","properties":{"e":{"type":"integer","enum":[`+list(n, `§`)+`]}}}`, "")
	}},
	{"enums-by-operation", 100, func(n int) string {
		return paths(n, func(i int) string {
			return fmt.Sprintf(`{"get":{"operationId":"o%d","parameters":[{"name":"e","in":"query","schema":{"$ref":"#/components/schemas/E"}}],"responses":{}}}`, i)
		}, `,"components":{"schemas":{"E":{"type":"string","enum":[`+list(n*10, `"e§"`)+`]}}}`)
	}},
	{"examples", 1_000, func(n int) string {
		return document(`"paths":{"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"a":{"type":"string","readOnly":true}}},"examples":{` +
			list(n, `"e§":{"value":{"a":"c","b":[{"x":§}]}}`) + `}}}},"responses":{}}}}`)
	}},
	{"examples-of-schema", 1_000, func(n int) string {
		return body(`{"type":"object","properties":{"a":{"type":"integer","examples":[`+list(n, `"x§"`)+`]},"b":{"type":"string","examples":[`+list(n, `"x§"`)+`]}}}`, "")
	}},
	{"defaults", 1_000, func(n int) string {
		return body(`{"type":"object","properties":{`+list(n, `"p§":{"type":"integer","default":"wrong§"}`)+`}}`, "")
	}},
	{"example-deep", 2_000, func(n int) string {
		return body(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}},"example":{"a":[`+list(n, `§`)+`]}}`, "")
	}},
}
