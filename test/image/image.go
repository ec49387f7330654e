package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

const (
	// user is nobody in particular, and not root. Kubernetes' runAsNonRoot wants a number.
	user = "65532:65532"
	// most is the size that the project promises, of the whole archive.
	most = 25_000_000
)

// image is a finished image.
type image struct {
	archive  []byte // the tar file
	digest   string // of the manifest: what a registry would call the image
	os, arch string
}

// Media types and documents of the OCI image specification 1.1.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Platform    *platform         `json:"platform,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type index struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

type manifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Config        descriptor        `json:"config"`
	Layers        []descriptor      `json:"layers"`
	Annotations   map[string]string `json:"annotations"`
}

type imageConfig struct {
	Created string `json:"created"`
	platform
	Config struct {
		User         string              `json:"User"`
		ExposedPorts map[string]struct{} `json:"ExposedPorts"`
		Entrypoint   []string            `json:"Entrypoint"`
		Cmd          []string            `json:"Cmd"`
		WorkingDir   string              `json:"WorkingDir"`
		Labels       map[string]string   `json:"Labels"`
		StopSignal   string              `json:"StopSignal"`
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
	History []history `json:"history"`
}

type history struct {
	Created   string `json:"created"`
	CreatedBy string `json:"created_by"`
}

// build makes the image of a program with a bundle of CA certificates.
func build(program, roots []byte) (*image, error) {
	p, err := inspect(program)
	if err != nil {
		return nil, err
	}
	if !x509.NewCertPool().AppendCertsFromPEM(roots) {
		return nil, errors.New("the bundle holds no PEM certificate")
	}
	c := configure(p)
	m := manifest{SchemaVersion: 2, MediaType: typeManifest, Annotations: c.Config.Labels}
	b := blobs{}
	// The program comes last: what changes least is shared by most versions.
	for _, l := range []struct {
		by    string
		files []file
	}{{"certificates and directories", system(roots)}, {"program", []file{{"drawbridge", 0o755, 0, program}}}} {
		layer, diff, err := pack(l.files, p.created)
		if err != nil {
			return nil, err
		}
		m.Layers = append(m.Layers, b.add(typeLayer, layer))
		c.RootFS.DiffIDs = append(c.RootFS.DiffIDs, diff)
		c.History = append(c.History, history{Created: c.Created, CreatedBy: l.by})
	}
	if m.Config, err = b.addJSON(typeConfig, c); err != nil {
		return nil, err
	}
	top, err := b.addJSON(typeManifest, m)
	if err != nil {
		return nil, err
	}
	top.Platform = &p.platform
	top.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": "latest",
		"io.containerd.image.name":          "docker.io/library/drawbridge:latest", // what docker load calls it
	}
	archive, err := b.archive(index{SchemaVersion: 2, MediaType: typeIndex, Manifests: []descriptor{top}}, p.created)
	if err != nil {
		return nil, err
	}
	if len(archive) > most {
		return nil, fmt.Errorf("has %d bytes, more than the %d that are promised", len(archive), most)
	}
	return &image{archive: archive, digest: top.Digest, os: p.OS, arch: p.Architecture}, nil
}

// configure says how a container runs the program.
func configure(p program) imageConfig {
	created := p.created.Format(time.RFC3339)
	labels := map[string]string{
		"org.opencontainers.image.title":       "drawbridge",
		"org.opencontainers.image.description": "Serves the operations of OpenAPI documents as MCP tools.",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.created":     created,
	}
	if p.revision != "" {
		labels["org.opencontainers.image.revision"] = p.revision
	}

	var c imageConfig
	c.Created, c.platform = created, p.platform
	c.Config.User = user
	// Only what serves clients: the operators' listener stays on loopback unless it is configured.
	c.Config.ExposedPorts = map[string]struct{}{"8080/tcp": {}}
	c.Config.Entrypoint = []string{"/drawbridge"}
	c.Config.Cmd = []string{"serve", "--config", "/etc/drawbridge/drawbridge.yaml"}
	c.Config.WorkingDir = "/"
	c.Config.Labels = labels
	c.Config.StopSignal = "SIGTERM"
	c.RootFS.Type = "layers"
	return c
}

// system is what a program expects of a machine: certificates, names of users, a place for temporary files and one of
// its own. /var/lib/drawbridge is the place for server.state_dir.
func system(roots []byte) []file {
	return []file{
		{"etc/", fs.ModeDir | 0o755, 0, nil},
		{"etc/drawbridge/", fs.ModeDir | 0o755, 0, nil},
		{"etc/group", 0o644, 0, []byte("root:x:0:\nnonroot:x:65532:\n")},
		{"etc/passwd", 0o644, 0, []byte("root:x:0:0:root:/:/none\nnonroot:x:65532:65532:nonroot:/:/none\n")},
		{"etc/ssl/", fs.ModeDir | 0o755, 0, nil},
		{"etc/ssl/certs/", fs.ModeDir | 0o755, 0, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, 0, roots},
		{"tmp/", fs.ModeDir | fs.ModeSticky | 0o777, 0, nil},
		{"var/", fs.ModeDir | 0o755, 0, nil},
		{"var/lib/", fs.ModeDir | 0o755, 0, nil},
		{"var/lib/drawbridge/", fs.ModeDir | 0o700, 65532, nil},
	}
}

// program is what the binary says of itself.
type program struct {
	platform
	revision string
	created  time.Time // of the commit, so that it is the same for the same binary; else 1970
}

// inspect refuses what would not run in an image without a dynamic linker.
func inspect(binary []byte) (program, error) {
	p := program{created: time.Unix(0, 0).UTC()}
	e, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		return p, fmt.Errorf("is not a Linux program: %w", err)
	}
	for _, s := range e.Progs {
		if s.Type == elf.PT_INTERP {
			return p, errors.New("is linked dynamically; build it with CGO_ENABLED=0")
		}
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return p, fmt.Errorf("is not a Go program: %w", err)
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS":
			p.OS = s.Value
		case "GOARCH":
			p.Architecture = s.Value
		case "vcs.revision":
			p.revision = s.Value + p.revision
		case "vcs.modified":
			if s.Value == "true" {
				p.revision += "-dirty"
			}
		case "vcs.time":
			if t, err := time.Parse(time.RFC3339, s.Value); err == nil {
				p.created = t.UTC().Truncate(time.Second)
			}
		}
	}
	if p.OS != "linux" || p.Architecture == "" {
		return p, fmt.Errorf("is for %q on %q; an image needs linux", p.OS, p.Architecture)
	}
	return p, nil
}

// blobs are contents by digest, in hex.
type blobs map[string][]byte

func (b blobs) add(mediaType string, data []byte) descriptor {
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	b[name] = data
	return descriptor{MediaType: mediaType, Digest: "sha256:" + name, Size: len(data)}
}

func (b blobs) addJSON(mediaType string, v any) (descriptor, error) {
	data, err := json.Marshal(v) // which sorts the keys of maps
	if err != nil {
		return descriptor{}, err
	}
	return b.add(mediaType, data), nil
}
