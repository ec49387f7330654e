package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/x509"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	// user is nobody in particular, and not root. Kubernetes' runAsNonRoot wants a number.
	user = "65532:65532"
	// most is the size that the project promises, of what a machine fetches: the layers for its processor.
	most = 25_000_000
	// repository is what docker load calls it, with the version as the tag.
	repository = "drawbridge"
)

// image is a finished image, for one or more processors.
type image struct {
	archive  []byte // the tar file
	digest   string // of the index: what a registry would call the image
	variants []variant
}

// variant is the image for one processor.
type variant struct {
	platform
	digest string // of its manifest
	size   int    // of its layers and its configuration, compressed
}

// origin is what the image says of where it comes from.
type origin struct {
	version, revision string
	created           time.Time
}

// tag is the version as registries take it. It never moves to another image, as "latest" would.
func (o origin) tag() string {
	t := strings.TrimLeft(regexp.MustCompile(`[^A-Za-z0-9_.-]`).ReplaceAllString(o.version, "-"), ".-")
	return cmp.Or(t[:min(len(t), 128)], "dev")
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

// build makes the image of programs, each for a processor of its own, with a bundle of CA certificates.
func build(programs [][]byte, roots []byte, from origin) (*image, error) {
	if !x509.NewCertPool().AppendCertsFromPEM(roots) {
		return nil, errors.New("the bundle holds no PEM certificate")
	}
	b, im := blobs{}, &image{}
	list := index{SchemaVersion: 2, MediaType: typeIndex}
	var loads []dockerImage
	for _, program := range programs {
		m, d, err := b.variant(program, roots, from)
		if err != nil {
			return nil, err
		}
		v := variant{platform: *d.Platform, digest: d.Digest, size: m.Config.Size}
		for _, l := range m.Layers {
			v.size += l.Size
		}
		if v.size > most {
			return nil, fmt.Errorf("has %d bytes for %s, more than the %d that are promised", v.size, v.Architecture, most)
		}
		if slices.ContainsFunc(im.variants, func(o variant) bool { return o.platform == v.platform }) {
			return nil, fmt.Errorf("has two programs for %s", v.Architecture)
		}
		im.variants = append(im.variants, v)
		list.Manifests = append(list.Manifests, d)
		if len(loads) == 0 {
			loads = append(loads, dockerImageOf(m, from.tag()))
		}
	}
	top, err := b.addJSON(typeIndex, list)
	if err != nil {
		return nil, err
	}
	im.digest = top.Digest
	top.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": from.tag(),
		"io.containerd.image.name":          "docker.io/library/" + repository + ":" + from.tag(),
	}
	im.archive, err = b.archive(index{SchemaVersion: 2, MediaType: typeIndex, Manifests: []descriptor{top}}, loads, from.created)
	return im, err
}

// variant adds the image of one program.
func (b blobs) variant(program, roots []byte, from origin) (m manifest, d descriptor, err error) {
	on, err := inspect(program)
	if err != nil {
		return m, d, err
	}
	c := configure(on, from)
	m = manifest{SchemaVersion: 2, MediaType: typeManifest, Annotations: c.Config.Labels}
	// The program comes last: what changes least is shared by most versions.
	for _, l := range []struct {
		by    string
		files []file
	}{{"certificates and directories", system(roots)}, {"program", []file{{"drawbridge", 0o755, 0, program}}}} {
		layer, diff, err := pack(l.files, from.created)
		if err != nil {
			return m, d, err
		}
		m.Layers = append(m.Layers, b.add(typeLayer, layer))
		c.RootFS.DiffIDs = append(c.RootFS.DiffIDs, diff)
		c.History = append(c.History, history{Created: c.Created, CreatedBy: l.by})
	}
	if m.Config, err = b.addJSON(typeConfig, c); err != nil {
		return m, d, err
	}
	if d, err = b.addJSON(typeManifest, m); err != nil {
		return m, d, err
	}
	d.Platform = &on
	return m, d, nil
}

// configure says how a container runs the program.
func configure(on platform, from origin) imageConfig {
	created := from.created.UTC().Format(time.RFC3339)
	labels := map[string]string{
		"org.opencontainers.image.title":       "drawbridge",
		"org.opencontainers.image.description": "Serves the operations of OpenAPI documents as MCP tools.",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.created":     created,
	}
	for name, value := range map[string]string{"version": from.version, "revision": from.revision} {
		if value != "" {
			labels["org.opencontainers.image."+name] = value
		}
	}

	var c imageConfig
	c.Created, c.platform = created, on
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

// inspect says for what the program is, and refuses what would not run in an image without a dynamic linker.
func inspect(binary []byte) (on platform, err error) {
	e, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		return on, fmt.Errorf("is not a Linux program: %w", err)
	}
	for _, s := range e.Progs {
		if s.Type == elf.PT_INTERP {
			return on, errors.New("is linked dynamically; build it with CGO_ENABLED=0")
		}
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return on, fmt.Errorf("is not a Go program: %w", err)
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS":
			on.OS = s.Value
		case "GOARCH":
			on.Architecture = s.Value
		}
	}
	if on.OS != "linux" || on.Architecture == "" {
		return on, fmt.Errorf("is for %q on %q; an image needs linux", on.OS, on.Architecture)
	}
	return on, nil
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
