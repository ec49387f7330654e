package tokenreport

import (
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/tokenizer"
)

// Weights are the tokens of definitions and of parts of them: how many fewer there would be without the part. Descriptions
// and enums in schemas are parts of the schemas.
type Weights struct {
	Tokens             int `json:"tokens"`
	Description        int `json:"description"`  // of the tool
	InputSchema        int `json:"input_schema"` // but for an empty object
	OutputSchema       int `json:"output_schema"`
	SchemaDescriptions int `json:"schema_descriptions"` // in both schemas
	Enums              int `json:"enums"`               // in both schemas
}

func (w *Weights) add(v Weights) {
	w.Tokens += v.Tokens
	w.Description += v.Description
	w.InputSchema += v.InputSchema
	w.OutputSchema += v.OutputSchema
	w.SchemaDescriptions += v.SchemaDescriptions
	w.Enums += v.Enums
}

// definition is the definition of a tool with its tokens.
type definition struct {
	text   []byte
	tokens int
}

func takeApart(t *catalog.Tool) definition {
	return definition{t.Definition(catalog.AllFeatures), t.Tokens()}
}

func (d definition) weights() Weights {
	replaced := func(member, by string) int {
		return d.less(func(key string, value []byte) []byte {
			if key == member {
				return []byte(by)
			}
			return value
		})
	}
	return Weights{
		Tokens: d.tokens, Description: replaced("description", `""`), InputSchema: replaced("inputSchema", `{}`), OutputSchema: replaced("outputSchema", ""),
		SchemaDescriptions: d.lessInSchemas(schemaEdit{description: func([]byte) []byte { return nil }}), Enums: d.lessInSchemas(schemaEdit{dropEnums: true}),
	}
}

// less returns how many tokens fewer the definition has when its members are changed: a member that becomes empty is left
// out. It is never negative.
func (d definition) less(change func(key string, value []byte) []byte) int {
	return d.lessThan(appendMembers(make([]byte, 0, len(d.text)), d.text, change))
}

func (d definition) lessThan(other []byte) int { return max(0, d.tokens-tokenizer.Count(other)) }

// lessInSchemas is less for a change of both schemas.
func (d definition) lessInSchemas(e schemaEdit) int {
	return d.less(func(key string, value []byte) []byte {
		if key == "inputSchema" || key == "outputSchema" {
			return e.apply(value)
		}
		return value
	})
}
