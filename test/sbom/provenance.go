package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"path/filepath"
	"time"
)

// Documents of in-toto 1 (https://in-toto.io/Statement/v1) with SLSA provenance 1 (https://slsa.dev/spec/v1.0/provenance).
// They are not signed: who publishes an image signs it together with these.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     struct {
		Definition struct {
			BuildType    string            `json:"buildType"`
			External     map[string]string `json:"externalParameters"`
			Internal     map[string]string `json:"internalParameters"`
			Dependencies []resource        `json:"resolvedDependencies"`
		} `json:"buildDefinition"`
		Run struct {
			Builder  map[string]string `json:"builder"`
			Metadata map[string]string `json:"metadata"`
		} `json:"runDetails"`
	} `json:"predicate"`
}

type resource struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

// subject names what was made by its digest.
func subject(path string, data []byte) resource {
	sum := sha256.Sum256(data)
	return resource{Name: filepath.Base(path), Digest: map[string]string{"sha256": hex.EncodeToString(sum[:])}}
}

// provenance says of what the subjects were made, and how.
func provenance(info *buildinfo.BuildInfo, subjects []resource, version, commit string, created time.Time) *statement {
	s := &statement{Type: "https://in-toto.io/Statement/v1", Subject: subjects, PredicateType: "https://slsa.dev/provenance/v1"}
	d := &s.Predicate.Definition
	d.BuildType = "urn:drawbridge:make-image:v1" // the Makefile of that commit
	d.External = map[string]string{"version": version, "target": "image"}
	d.Internal = map[string]string{"go": info.GoVersion, "SOURCE_DATE_EPOCH": created.UTC().Format(time.RFC3339)}
	for _, setting := range info.Settings {
		d.Internal[setting.Key] = setting.Value
	}
	d.Dependencies = append(d.Dependencies, resource{Name: info.Main.Path, Digest: map[string]string{"gitCommit": commit}})
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		d.Dependencies = append(d.Dependencies, resource{URI: purl(m.Path, m.Version), Digest: map[string]string{"dirHash1": m.Sum}})
	}
	s.Predicate.Run.Builder = map[string]string{"id": "urn:drawbridge:make"}
	s.Predicate.Run.Metadata = map[string]string{"finishedOn": created.UTC().Format(time.RFC3339)}
	return s
}
