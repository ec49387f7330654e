package config

import (
	"path/filepath"
	"testing"
)

// TestJSON holds that a mapping keeps its order and the types of its values.
func TestJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "drawbridge.yaml")
	writeFile(t, file, []byte(`apis: [{spec: a.json}]
tools: {deprecated_inputs: true}
rules:
  - match: {operation: a}
    set:
      inputs:
        - key: k
          kind: sample
          bind: {x: /content/text}
          params: {b: "1", a: 1, c: [1.50, -2e3, null, true, "${NAME}", 2026-01-01, &x {z: "ü\n<"}, *x], "": {}, 1: one, no: "$$"}
`))
	c, problems := Load(file, func(string) string { return `va"lue` })
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	const want = `{"b":"1","a":1,"c":[1.50,-2e3,null,true,"va\"lue","2026-01-01",{"z":"ü\n\u003c"},{"z":"ü\n\u003c"}],"":{},"1":"one","no":"$"}`
	if got := string(c.Rules[0].Set.Inputs[0].Params); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
