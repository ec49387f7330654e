package projection

import (
	"context"
	"strings"
	"testing"
)

// TestFailure: which values of an expression report a failure, and that what can't be evaluated reports none (pains row 155).
func TestFailure(t *testing.T) {
	compiler := NewCompiler()
	for _, test := range []struct {
		when, message, answer string
		reported              bool
		text                  string
		fails                 bool // the expression can't be evaluated
	}{
		{`.success == false`, `.message`, `{"success":false,"message":"no such depot"}`, true, "no such depot", false},
		{`.success == false`, `.message`, `{"success":true,"message":"ok"}`, false, "", false},
		{`.success == false`, `.message`, `[1]`, false, "", false},
		{`.success == false`, `.message`, `"text"`, false, "", false},
		{`.error`, `.error.message // .error`, `{"error":{"message":"locked"}}`, true, "locked", false},
		{`.error`, `.error.message`, `{"error":"locked"}`, true, "", false},
		{`.error`, `"\(.error.code): \(.error.message)"`, `{"error":{"code":17,"message":"locked"}}`, true, "17: locked", false},
		{`.error`, `.error`, `{"error":{"code":"E17"}}`, true, `{"code":"E17"}`, false},
		{`.error`, `.message`, `{"error":null}`, false, "", false},
		{`.error`, `.message`, `{"error":false}`, false, "", false},
		{`.error`, `.message`, `{"error":""}`, true, "", false},
		{`.code != 0`, `.message`, `{"code":0}`, false, "", false},
		{`.code != 0`, `.message`, `{"code":40013,"message":null}`, true, "", false},
		{`.status | test("(?i)^error$")`, `.statusText`, `{"status":"Error","statusText":" quota "}`, true, "quota", false},
		{`first(.errors[] | select(.fatal))`, `[.errors[].message]`, `{"errors":[{"fatal":false}]}`, false, "", false},
		{`first(.errors[] | select(.fatal))`, `[.errors[].message]`, `{"errors":[{"fatal":true,"message":"a"}]}`, true, `["a"]`, false},
		{`.error`, ``, `{"error":1,"pad":"` + strings.Repeat("x", MaxProgramInput) + `"}`, false, "", true},
	} {
		f := &Failure{}
		var err error
		if f.When, err = compiler.Compile(test.when); err != nil {
			t.Fatalf("%s: %v", test.when, err)
		}
		if test.message != "" {
			if f.Message, err = compiler.Compile(test.message); err != nil {
				t.Fatalf("%s: %v", test.message, err)
			}
		}
		reported, err := f.Reported(context.Background(), []byte(test.answer))
		if reported != test.reported || (err != nil) != test.fails {
			t.Errorf("%s on %.60s: %v %v", test.when, test.answer, reported, err)
		}
		if reported {
			if text := f.Text(context.Background(), []byte(test.answer)); text != test.text {
				t.Errorf("%s on %.60s: %q, want %q", test.message, test.answer, text, test.text)
			}
		}
	}
}

// TestNeverFalse: an expression whose value can't be false decides nothing.
func TestNeverFalse(t *testing.T) {
	compiler := NewCompiler()
	for text, want := range map[string]bool{
		`"failed"`: true, `[.error]`: true, `{error}`: true, `true`: false, `.error`: false, `.a == 1`: false, `.a and .b`: false, `null`: false, `.a // "x"`: false, `if .a then "x" else "y" end`: true,
		`if .a then "x" else null end`: false, `.`: false, `"\(.a)"`: true, `.a | length`: true,
	} {
		p, err := compiler.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.IsNeverFalse(); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
