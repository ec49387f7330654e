package schema

import (
	"math"
	"strconv"

	"drawbridge/openapi/jsonscan"
)

// fill adds the keywords of a schema to its check. What none of the groups knows makes the check opaque.
func (p *programmer) fill(c *check, schema []byte) {
	for name, value := range jsonscan.Members(schema) {
		keyword := string(name)
		_ = p.basic(c, keyword, value) || p.objectKeyword(c, keyword, value) || p.arrayKeyword(c, keyword, value) || c.textKeyword(keyword, value) ||
			c.numberKeyword(keyword, value) || p.composition(c, keyword, value) || c.annotation(keyword, value) || c.unknown()
	}
	if c.parts != nil && c.parts.none() {
		c.parts = nil // then and else mean nothing without if
	}
}

func (p *programmer) basic(c *check, keyword string, value []byte) bool {
	switch keyword {
	case "type":
		c.types = p.types(c, value)
	case "enum", "const":
		c.list(keyword, value)
	case "$ref":
		c.ref = p.ref(c, value)
	default:
		return false
	}
	return true
}

func (p *programmer) objectKeyword(c *check, keyword string, value []byte) bool {
	switch keyword {
	case "properties":
		p.properties(c.ofObjects(), value)
	case "required":
		object := c.ofObjects()
		for item := range jsonscan.Elements(value) {
			object.required = append(object.required, string(jsonscan.Unquote(item)))
		}
	case "additionalProperties":
		if additional := p.check(value); !additional.anything() {
			c.ofObjects().additional = additional
		}
	case "unevaluatedProperties":
		switch string(value) {
		case "false":
			c.ofObjects().unevaluated = true
		case "true":
		default:
			c.opaque = true
		}
	case "minProperties":
		c.whole(value, &c.ofObjects().least)
	case "maxProperties":
		c.whole(value, &c.ofObjects().most)
	default:
		return false
	}
	return true
}

func (p *programmer) arrayKeyword(c *check, keyword string, value []byte) bool {
	switch keyword {
	case "items":
		if items := p.check(value); !items.anything() {
			c.ofArrays().items = items
		}
	case "prefixItems":
		c.ofArrays().prefix = p.list(value)
	case "uniqueItems":
		c.ofArrays().unique = string(value) == "true"
	case "minItems":
		c.whole(value, &c.ofArrays().least)
	case "maxItems":
		c.whole(value, &c.ofArrays().most)
	default:
		return false
	}
	return true
}

func (c *check) textKeyword(keyword string, value []byte) bool {
	switch keyword {
	case "minLength":
		c.whole(value, &c.ofTexts().least)
	case "maxLength":
		c.whole(value, &c.ofTexts().most)
	case "pattern":
		c.ofTexts().pattern = &lazyPattern{source: string(jsonscan.Unquote(value))}
	default:
		return false
	}
	return true
}

func (c *check) numberKeyword(keyword string, value []byte) bool {
	switch keyword {
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		c.ofNumbers().bound(keyword, value)
	case "multipleOf":
		c.ofNumbers().hard = true
	case "format":
		if f := formatNamed(string(jsonscan.Unquote(value))); f != nil {
			c.ofNumbers().format = f
		}
	default:
		return false
	}
	return true
}

func (p *programmer) composition(c *check, keyword string, value []byte) bool {
	switch keyword {
	case "allOf":
		c.ofParts().all = p.list(value)
	case "anyOf":
		c.ofParts().any = p.list(value)
	case "oneOf":
		c.ofParts().one = p.list(value)
	case "not":
		c.ofParts().not = p.check(value)
	case "if":
		c.ofParts().cond = p.check(value)
	case "then":
		c.ofParts().then = p.check(value)
	case "else":
		c.ofParts().other = p.check(value)
	default:
		return false
	}
	return true
}

// annotation reports whether a keyword restricts nothing.
func (c *check) annotation(keyword string, value []byte) bool {
	switch keyword {
	case "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType", "contentSchema",
		"$defs", "$anchor", "$comment":
		return true
	case "$schema":
		return string(jsonscan.Unquote(value)) == dialect2020
	}
	return false
}

// unknown notes a keyword that only the library knows.
func (c *check) unknown() bool {
	c.opaque = true
	return true
}

// whole reads a limit; one that is no whole number is left to the library.
func (c *check) whole(value []byte, to *int) {
	n, err := strconv.Atoi(string(value))
	if err != nil {
		c.opaque = true
		return
	}
	*to = n
}

func (c *check) ofObjects() *objectCheck {
	if c.object == nil {
		c.object = &objectCheck{most: math.MaxInt}
	}
	return c.object
}

func (c *check) ofArrays() *arrayCheck {
	if c.array == nil {
		c.array = &arrayCheck{most: math.MaxInt}
	}
	return c.array
}

func (c *check) ofTexts() *textCheck {
	if c.text == nil {
		c.text = &textCheck{most: math.MaxInt}
	}
	return c.text
}

func (c *check) ofNumbers() *numberCheck {
	if c.number == nil {
		c.number = &numberCheck{least: math.MinInt64, most: math.MaxInt64}
	}
	return c.number
}

func (c *check) ofParts() *partsCheck {
	if c.parts == nil {
		c.parts = &partsCheck{}
	}
	return c.parts
}

// none reports whether there is no composition.
func (p *partsCheck) none() bool {
	return p.all == nil && p.any == nil && p.one == nil && p.not == nil && p.cond == nil
}
