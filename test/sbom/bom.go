package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// Documents of CycloneDX 1.6, as far as they are used (https://cyclonedx.org/docs/1.6/json/).
type bom struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	SerialNumber string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string     `json:"timestamp"`
	Component component  `json:"component"`
	Lifecycle []property `json:"properties"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Scope      string     `json:"scope,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licenses   []license  `json:"licenses,omitempty"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// inventory returns the parts of a binary. The licences are those that are found, by module path.
func inventory(info *buildinfo.BuildInfo, binary []byte, version string, created time.Time, licenses map[string]string) *bom {
	sum := sha256.Sum256(binary)
	own := component{
		Type: "application", Name: info.Main.Path, Version: version, Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}},
		Licenses: licensed("Apache-2.0"), PURL: purl(info.Main.Path, version),
	}
	own.Ref = own.PURL
	for _, s := range info.Settings {
		if slices.Contains([]string{"GOOS", "GOARCH", "CGO_ENABLED", "-trimpath", "-tags"}, s.Key) {
			own.Properties = append(own.Properties, property{"go:build:" + s.Key, s.Value})
		}
	}
	b := &bom{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		SerialNumber: serial(sum),
		Metadata: metadata{Timestamp: created.UTC().Format(time.RFC3339), Component: own,
			Lifecycle: []property{{"go:version", info.GoVersion}}},
	}
	all := []string{}
	for _, m := range info.Deps {
		c := moduleOf(m, licenses)
		b.Components = append(b.Components, c)
		all = append(all, c.Ref)
	}
	std := strings.TrimPrefix(info.GoVersion, "go")
	std, _, _ = strings.Cut(std, " ")
	b.Components = append(b.Components, component{
		Type: "library", Ref: purl("std", std), Name: "std", Version: std, Scope: "required", Licenses: licensed("BSD-3-Clause"), PURL: purl("std", std),
	})
	all = append(all, purl("std", std))
	slices.SortFunc(b.Components, func(a, b component) int { return cmp.Compare(a.Ref, b.Ref) })
	slices.Sort(all)
	// A binary does not say which module needs which: all that is known is that they are in it.
	b.Dependencies = append(b.Dependencies, dependency{own.Ref, all})
	for _, ref := range all {
		b.Dependencies = append(b.Dependencies, dependency{Ref: ref})
	}
	return b
}

// moduleOf is the module that was linked: a replacement, if there is one.
func moduleOf(m *debug.Module, licenses map[string]string) component {
	if m.Replace != nil {
		m = m.Replace
	}
	c := component{
		Type: "library", Ref: purl(m.Path, m.Version), Name: m.Path, Version: m.Version, Scope: "required",
		Licenses: licensed(licenses[m.Path]), PURL: purl(m.Path, m.Version),
	}
	if m.Sum != "" { // a digest of the digests of its files, which is no digest of CycloneDX's
		c.Properties = append(c.Properties, property{"go:sum", m.Sum})
	}
	return c
}

func licensed(id string) []license {
	if id == "" {
		return nil
	}
	var l license
	l.License.ID = id
	return []license{l}
}

// purl is the package URL (https://github.com/package-url/purl-spec, type golang).
func purl(path, version string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return "pkg:golang/" + strings.Join(parts, "/") + "@" + strings.ReplaceAll(url.PathEscape(version), "+", "%2B")
}

// serial is a UUID (version 8, RFC 9562) made of a digest, so that the same binary has the same.
func serial(sum [32]byte) string {
	u := sum[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
