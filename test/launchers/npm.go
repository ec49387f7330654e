package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// summary describes the program in both registries.
const summary = "MCP gateway for REST services with an OpenAPI document"

// about is the page of the packages.
//
//go:embed about.txt
var about []byte

// launcher starts the program of the platform.
//
//go:embed launcher.js
var launcher []byte

// manifest is a package.json.
type manifest struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	License              string            `json:"license"`
	Bin                  map[string]string `json:"bin,omitempty"`
	Engines              map[string]string `json:"engines,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
}

// entry is a file of a package.
type entry struct {
	name       string
	data       []byte
	executable bool
}

// npmLauncher returns the package that users name. Its optional dependencies are those of all platforms, at exactly its version; npm leaves
// out those that are for others.
func (r *release) npmLauncher() (file, error) {
	m := r.manifest(r.NPM)
	m.Bin = map[string]string{"drawbridge": "bin/drawbridge.js"}
	m.Engines = map[string]string{"node": ">=18"}
	m.OptionalDependencies = map[string]string{}
	for _, p := range platforms {
		m.OptionalDependencies[r.carrier(p)] = r.Version
	}
	return r.npmPackage(m, entry{"bin/drawbridge.js", launcher, true})
}

// npmCarrier returns the package that carries the program of a platform.
func (r *release) npmCarrier(p platform, program []byte) (file, error) {
	m := r.manifest(r.carrier(p))
	m.OS, m.CPU = []string{p.NPMOS}, []string{p.NPMArch}
	return r.npmPackage(m, entry{"bin/" + p.program(), program, true})
}

func (r *release) manifest(name string) manifest {
	return manifest{Name: name, Version: r.Version, Description: summary, License: "Apache-2.0"}
}

// carrier returns the name of a platform's package; launcher.js makes the same.
func (r *release) carrier(p platform) string { return r.NPM + "-" + p.NPMOS + "-" + p.NPMArch }

// npmPackage packs files as npm pack does: below the folder package, in a compressed tar archive.
func (r *release) npmPackage(m manifest, program entry) (file, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return file{}, err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	for _, e := range []entry{{"package.json", append(text, '\n'), false}, {"LICENSE", r.License, false}, {"README.md", about, false}, program} {
		mode := int64(0o644)
		if e.executable {
			mode = 0o755
		}
		h := &tar.Header{Name: "package/" + e.name, Mode: mode, Size: int64(len(e.data)), ModTime: r.Time, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return file{}, err
		}
		if _, err := t.Write(e.data); err != nil {
			return file{}, err
		}
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return file{}, err
	}
	name := strings.ReplaceAll(strings.TrimPrefix(m.Name, "@"), "/", "-")
	return file{fmt.Sprintf("%s-%s.tgz", name, r.Version), b.Bytes()}, nil
}
