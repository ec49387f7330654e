package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v4"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: schemas DIRECTORY swagger.json [custom-resource-definition.yaml …]")
		os.Exit(2)
	}
	n, err := write(os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stdout, "%d schemas\n", n)
}

// write returns how many kinds it wrote a schema of.
func write(dir, swagger string, definitions []string) (n int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	own, err := kubernetes(dir, swagger)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", swagger, err)
	}
	n = own
	for _, file := range definitions {
		custom, err := customResources(dir, file)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		n += custom
	}
	return n, nil
}

// name is the file that kubeconform is told to look for: {{.ResourceKind}}-{{.Group}}-{{.ResourceAPIVersion}}.json. In place of
// the group without a name, that of Services and ConfigMaps, it has the version.
func name(dir, group, version, kind string) string {
	if group == "" {
		group = version
	}
	return filepath.Join(dir, strings.ToLower(kind)+"-"+group+"-"+version+".json")
}

// kubernetes writes the kinds of an OpenAPI 2.0 document of Kubernetes.
func kubernetes(dir, file string) (n int, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	var document struct {
		Definitions map[string]map[string]any `json:"definitions"`
	}
	if err := json.Unmarshal(data, &document); err != nil {
		return 0, err
	}
	for _, d := range document.Definitions {
		strict(d)
	}
	for id, d := range document.Definitions {
		kinds, _ := d["x-kubernetes-group-version-kind"].([]any)
		if len(kinds) != 1 { // what is of every group, such as DeleteOptions, is no manifest
			continue
		}
		kind, _ := kinds[0].(map[string]any)
		group, version, what := text(kind["group"]), text(kind["version"]), text(kind["kind"])
		// Both are in every manifest, and nothing else of a schema says that they have to be.
		required, _ := d["required"].([]any)
		d["required"] = append(required, "apiVersion", "kind")
		used := map[string]any{}
		collect(d, document.Definitions, used)
		schema := map[string]any{"$ref": "#/definitions/" + id, "definitions": used}
		used[id] = d
		if err := save(name(dir, group, version, what), schema); err != nil {
			return 0, err
		}
		n++
	}
	if n == 0 {
		return 0, errors.New("names no kind")
	}
	return n, nil
}

// collect gathers the definitions that a schema refers to.
func collect(v any, all map[string]map[string]any, used map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			id := strings.TrimPrefix(ref, "#/definitions/")
			if _, seen := used[id]; !seen && all[id] != nil {
				used[id] = all[id]
				collect(all[id], all, used)
			}
		}
		for _, member := range v {
			collect(member, all, used)
		}
	case []any:
		for _, item := range v {
			collect(item, all, used)
		}
	}
}

// customResources writes the kinds of the custom resource definitions of a file.
func customResources(dir, file string) (n int, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for d := yaml.NewDecoder(f); ; {
		var crd struct {
			Spec struct {
				Group    string
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Schema struct {
						OpenAPIV3Schema map[string]any `yaml:"openAPIV3Schema"`
					}
				}
			}
		}
		err := d.Decode(&crd)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
		for _, v := range crd.Spec.Versions {
			strict(v.Schema.OpenAPIV3Schema)
			if err := save(name(dir, crd.Spec.Group, v.Name, crd.Spec.Names.Kind), v.Schema.OpenAPIV3Schema); err != nil {
				return 0, err
			}
			n++
		}
	}
	if n == 0 {
		return 0, errors.New("defines no custom resource")
	}
	return n, nil
}

// strict closes objects, and says in words of JSON Schema what Kubernetes has formats for.
func strict(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if s["format"] == "int-or-string" || s["x-kubernetes-int-or-string"] == true {
			delete(s, "format")
			s["type"] = []any{"string", "integer"}
		}
		_, properties := s["properties"].(map[string]any)
		if _, said := s["additionalProperties"]; properties && !said && s["x-kubernetes-preserve-unknown-fields"] != true {
			s["additionalProperties"] = false
		}
		for _, member := range s {
			strict(member)
		}
	case []any:
		for _, item := range s {
			strict(item)
		}
	}
}

func save(file string, schema any) error {
	data, err := json.Marshal(schema)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
