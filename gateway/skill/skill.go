package skill

import (
	"cmp"
	"encoding/hex"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"drawbridge/config"
	"drawbridge/gateway/call"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/render"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
)

// Skill is a skill of the configuration. It is immutable.
type Skill struct {
	*config.Skill
	// URI is that of its SKILL.md, by which clients know it.
	URI string
	// Entry is the skill as listed by skills/list, and Definition its SKILL.md as listed by resources/list.
	Entry, Definition []byte
	files             []*File
}

// File is a file of a skill as a resource. It is immutable.
type File struct {
	Skill *Skill
	uri   string
	// contents are the members of a result of resources/read, which are made at the first read.
	contents func() []mcp.Chunk
}

// Set is the skills of an endpoint, in configuration order. It is immutable.
type Set struct {
	All   []*Skill
	files map[string]*File // by URI
}

// Compile returns all skills of a configuration.
func Compile(configured []config.Skill) *Set {
	s := &Set{}
	for i := range configured {
		s.All = append(s.All, compile(&configured[i]))
	}
	return s.indexed()
}

// indexed returns the set with an index of its files.
func (s *Set) indexed() *Set {
	s.files = map[string]*File{}
	for _, one := range s.All {
		for _, f := range one.files {
			s.files[f.uri] = f
		}
	}
	return s
}

// At returns the skills of an endpoint; "" is the one that has all.
func (s *Set) At(endpoint string) *Set {
	if endpoint == "" {
		return s
	}
	at := &Set{}
	for _, one := range s.All {
		if slices.Contains(one.Endpoints, endpoint) {
			at.All = append(at.All, one)
		}
	}
	return at.indexed()
}

// Find returns the skill whose SKILL.md has a URI, or nil if there is none.
func (s *Set) Find(uri string) *Skill {
	if f := s.File(uri); f != nil && f.Skill.URI == uri {
		return f.Skill
	}
	return nil
}

// File returns the file with a URI, or nil if there is none.
func (s *Set) File(uri string) *File { return s.files[uri] }

// Needs returns the scopes that the caller must have been granted to see and read the skill.
func (s *Skill) Needs() call.Needs { return call.Needs{{s.Scopes}} }

func compile(c *config.Skill) *Skill {
	content, root := c.Content(), "skill://"+c.Path
	s := &Skill{Skill: c, URI: root + "/SKILL.md"}
	entry := jsonscan.AppendString([]byte(`{"uri":`), s.URI)
	entry = append(append(entry, `,"frontmatter":`...), content.FrontMatter...)
	entry = append(entry, `,"resources":[`...)
	for i := range content.Files {
		file := &content.Files[i]
		f := &File{Skill: s, uri: root + "/" + escaped(file.Path)}
		f.contents = sync.OnceValue(func() []mcp.Chunk { return contentsOf(f.uri, file) })
		s.files = append(s.files, f)
		if i > 0 {
			entry = append(entry, ',')
		}
		entry = jsonscan.AppendString(append(entry, `{"uri":`...), f.uri)
		entry = hex.AppendEncode(append(entry, `,"digest":"sha256:`...), file.SHA256[:])
		entry = append(strconv.AppendInt(append(entry, `","size":`...), int64(len(file.Data)), 10), '}')
		if f.uri == s.URI {
			s.Definition = definition(s, len(file.Data))
		}
	}
	s.Entry = append(entry, `]}`...)
	return s
}

// definition returns SKILL.md as a resource in lists (SEP-2640, Resource Metadata).
func definition(s *Skill, size int) []byte {
	b := jsonscan.AppendString([]byte(`{"uri":`), s.URI)
	b = jsonscan.AppendString(append(b, `,"name":`...), s.Content().Name)
	b = jsonscan.AppendString(append(b, `,"description":`...), s.Content().Description)
	b = jsonscan.AppendString(append(b, `,"mimeType":`...), markdown)
	return append(strconv.AppendInt(append(b, `,"size":`...), int64(size), 10), '}')
}

// escaped returns a path as a part of a URI (RFC 3986 section 3.3).
func escaped(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

const markdown = "text/markdown"

// labels are the media types of texts by the extensions of their names. Others are known by their bytes.
var labels = map[string]string{
	".md": markdown, ".json": "application/json", ".yaml": "application/yaml", ".yml": "application/yaml", ".csv": "text/csv", ".html": "text/html",
	".xml": "application/xml", ".js": "text/javascript", ".py": "text/x-python", ".sh": "text/x-shellscript",
}

// contentsOf returns the members of a result of resources/read. Bytes that are UTF-8 are text, so that the text has the digest of the file.
func contentsOf(uri string, file *config.SkillFile) []mcp.Chunk {
	c := render.Content{URI: uri}
	c.MIMEType, _ = mediatype.Content("", file.Data)
	if utf8.Valid(file.Data) {
		c.Text, c.MIMEType = file.Data, cmp.Or(labels[strings.ToLower(path.Ext(file.Path))], c.MIMEType, "text/plain")
	} else {
		c.Blob, c.MIMEType = file.Data, cmp.Or(c.MIMEType, "application/octet-stream")
	}
	return render.Contents([]render.Content{c})
}
