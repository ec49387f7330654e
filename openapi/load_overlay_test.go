package openapi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// overlaid is a document that is written to a directory with an overlay.
type overlaid struct {
	t   *testing.T
	dir string
}

func newOverlaid(t *testing.T, files ...string) overlaid {
	o := overlaid{t, t.TempDir()}
	for i := 0; i < len(files); i += 2 {
		o.write(files[i], files[i+1])
	}
	return o
}

func (o overlaid) write(name, text string) {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// load returns the operations, and the problems without the directory.
func (o overlaid) load(overlays ...string) (api *API, problems []string, err error) {
	o.t.Helper()
	options := LoadOptions{Keep: true}
	for _, name := range overlays {
		options.Overlays = append(options.Overlays, filepath.Join(o.dir, name))
	}
	doc, err := Load(o.t.Context(), filepath.Join(o.dir, "openapi.yaml"), options)
	if err != nil {
		return nil, nil, err
	}
	if api, err = doc.Compile(o.t.Context(), CompileOptions{}); err != nil {
		return nil, nil, err
	}
	for _, p := range api.Problems {
		problems = append(problems, strings.ReplaceAll(p.String(), o.dir+string(filepath.Separator), ""))
	}
	return api, problems, nil
}

const overlaidDocument = `openapi: 3.1.0
info: {title: Orders, version: '1'}
servers: [{url: 'https://orders.example.com'}]
paths:
  /orders:
    get:
      operationId: listOrders
      parameters: [{name: limit, in: query, schema: {type: integer}}]
      responses: {'200': {description: ok}}
    delete: {operationId: purge, responses: {'204': {description: gone}}}
`

// TestOverlayPositions checks that problems of values from an overlay have their position in it, and concern the
// operations that contain the values; references are those of the document.
func TestOverlayPositions(t *testing.T) {
	o := newOverlaid(t, "openapi.yaml", overlaidDocument, "overlay.yaml", `overlay: 1.1.0
info: {title: T, version: '1'}
actions:
  - target: $.paths['/orders'].get.parameters[?@.name == 'limit'].schema
    update:
      maximum: '100'
      oneOf: [{$ref: '#/components/schemas/Limit'}]
  - target: $.paths['/orders'].get.parameters
    update: {name: page, in: Query, schema: {$ref: '#/components/schemas/Missing'}}
  - target: $
    update: {components: {schemas: {Limit: {minimum: 1, tpye: x, type: Integer}}}}
`)
	api, problems, err := o.load("overlay.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`overlay.yaml:6:7: /paths/~1orders/get/parameters/0/schema/maximum: "maximum" must be a number, found the text "100"`,
		`overlay.yaml:9:26: /paths/~1orders/get/parameters/1/in: `,
		`overlay.yaml:9:46: /paths/~1orders/get/parameters/1/schema`,
		`overlay.yaml:11:66: /components/schemas/Limit/type: `,
	}
	for i, p := range problems {
		if i >= len(want) || !strings.HasPrefix(p, want[i]) {
			t.Errorf("problem %d: %s", i, p)
		}
	}
	if len(problems) != len(want) {
		t.Errorf("%d problems, want %d", len(problems), len(want))
	}
	if got := len(api.Operations[0].Problems); got != len(want) || len(api.Operations[1].Problems) > 0 {
		t.Errorf("%d problems concern the operation, want %d", got, len(want))
	}
}

// TestOverlayRefresh checks that overlays are applied again to a changed document, and to an unchanged one whose
// overlay has changed.
func TestOverlayRefresh(t *testing.T) {
	o := newOverlaid(t, "openapi.yaml", overlaidDocument, "overlay.yaml", `overlay: 1.1.0
info: {title: T, version: '1'}
actions:
  - {target: "$.paths.*.delete", remove: true}
  - {target: "$.paths.*.*", update: {x-reviewed: true}}
`)
	names := func() (all []string) {
		api, problems, err := o.load("overlay.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range api.Operations {
			all = append(all, op.ID)
		}
		return append(all, problems...)
	}
	steps := []struct {
		file, text string
		want       []string
	}{
		{"", "", []string{"listOrders"}},
		{"openapi.yaml", overlaidDocument + "  /customers:\n    delete: {operationId: forget, responses: {'204': {description: gone}}}\n    get: {operationId: customers, responses: {'200': {description: ok}}}\n",
			[]string{"listOrders", "customers"}},
		{"openapi.yaml", strings.Replace(overlaidDocument, "    delete: {", "    post: {", 1), []string{"listOrders", "purge",
			`overlay.yaml:4:6: the target "$.paths.*.delete" selects nothing, so the action (remove) changes nothing`}},
		{"overlay.yaml", "overlay: 1.0.0\ninfo: {title: T, version: '1'}\nactions:\n- {target: '$.paths.*.post', remove: true}\n", []string{"listOrders"}},
	}
	for i, step := range steps {
		if step.file != "" {
			o.write(step.file, step.text)
		}
		if diff := cmp.Diff(step.want, names()); diff != "" {
			t.Errorf("step %d: -want +got:\n%s", i, diff)
		}
	}
}

// TestOverlayFaults checks that an overlay that can't be applied is an error of the document.
func TestOverlayFaults(t *testing.T) {
	o := newOverlaid(t, "openapi.yaml", overlaidDocument, "overlay.yaml", "overlay: 1.1.0\ninfo: {title: T, version: '1'}\nactions: [{target: $.info, copy: $.info.title}]\n")
	for name, want := range map[string]string{
		"overlay.yaml": filepath.Join(o.dir, "overlay.yaml") + `:3:28: the copied value is a string`,
		"openapi.yaml": filepath.Join(o.dir, "openapi.yaml") + `:1:1: overlay is missing; `,
		"none.yaml":    `overlay "` + filepath.Join(o.dir, "none.yaml") + `": no such file or directory`,
	} {
		_, _, err := o.load(name)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
