package mcp

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
)

// TestParamHeader holds a header that repeats an argument against it.
func TestParamHeader(t *testing.T) {
	const name = "Mcp-Param-Region"
	for _, c := range []struct {
		header  []string
		value   string
		problem string
	}{
		{[]string{"eu"}, `"eu"`, ""},
		{[]string{"eu"}, `"\u0065u"`, ""},
		{[]string{"=?base64?ZXU=?="}, `"eu"`, ""},
		{[]string{"ZXU="}, `"ZXU="`, ""},
		{[]string{"=?base64?ZXU="}, `"=?base64?ZXU="`, ""},
		{[]string{""}, `""`, ""},
		{nil, `null`, ""},
		{nil, ``, ""},
		{nil, `{"a":1}`, ""},
		{[]string{"7"}, `7`, ""},
		{[]string{"7.0"}, `7`, ""},
		{[]string{"70e-1"}, `7`, ""},
		{[]string{"true"}, `true`, ""},
		{nil, `"eu"`, "header Mcp-Param-Region is missing"},
		{[]string{"eu", "eu"}, `"eu"`, "header Mcp-Param-Region is given more than once"},
		{[]string{"us"}, `"eu"`, `header Mcp-Param-Region is "us" but the body says "eu"`},
		{[]string{"EU"}, `"eu"`, `header Mcp-Param-Region is "EU" but the body says "eu"`},
		{[]string{"=?base64?ZXU?="}, `"eu"`, `header Mcp-Param-Region is "=?base64?ZXU?=", which is not a valid header value`},
		{[]string{"=?base64?Z!!!?="}, `"eu"`, `header Mcp-Param-Region is "=?base64?Z!!!?=", which is not a valid header value`},
		{[]string{"e\x01"}, `"e\u0001"`, `header Mcp-Param-Region is "e\x01", which is not a valid header value`},
		{[]string{"eu"}, ``, "header Mcp-Param-Region is given but the body has no value for it"},
		{[]string{"eu"}, `null`, "header Mcp-Param-Region is given but the body has no value for it"},
		{[]string{"8"}, `7`, `header Mcp-Param-Region is "8" but the body says 7`},
		{[]string{"0x7"}, `7`, `header Mcp-Param-Region is "0x7" but the body says 7`},
		{[]string{"1e999999999"}, `7`, `header Mcp-Param-Region is "1e999999999" but the body says 7`},
		{[]string{"12345678901234567890123456789012345678901234567890"}, `7`,
			`header Mcp-Param-Region is "12345678901234567890123456789012345678901234567890" but the body says 7`},
		{[]string{"1"}, `true`, `header Mcp-Param-Region is "1" but the body says true`},
	} {
		req := &Request{Family: Stateless, HTTP: &http.Request{Header: http.Header{}}}
		if c.header != nil {
			req.HTTP.Header[name] = c.header
		}
		err := req.CheckParamHeader(name, json.RawMessage(c.value))
		var e *Error
		switch {
		case err == nil && c.problem == "":
		case !errors.As(err, &e) || e.Message != c.problem || e.Code != CodeHeaderMismatch:
			t.Errorf("%q, %s: %v; want %q", c.header, c.value, err, c.problem)
		}
	}
}
