package wire

import (
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// processorTime returns the processor time that the process has used. Unlike elapsed time it does not depend on the
// load of the machine.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestAmplification encodes a megabyte of arguments by plans of hostile documents. The time must be proportional to the
// size, and the result no larger than a few megabytes (R8). Each of these took ten seconds or a quarter of a gigabyte
// before it was a case.
func TestAmplification(t *testing.T) {
	const mega = 1 << 20
	list := func(item string, n int) []byte { return []byte("[" + strings.Repeat(item+",", n-1) + item + "]") }
	names, places, members := strings.Builder{}, map[string]int{}, map[string]*XMLNode{}
	for i := range mega / 16 {
		name := "a" + strconv.Itoa(i)
		names.WriteString(`,"` + name + `":1`)
		places[name], members[name] = i, &XMLNode{}
	}
	object := []byte("{" + names.String()[1:] + "}")
	long := strings.Repeat("u", 64<<10)
	xml := func(n *XMLNode, v []byte) func() ([]byte, error) {
		return func() ([]byte, error) { return n.Append(nil, v) }
	}
	attribute := func(a *XMLNode) *XMLNode {
		a.Kind = XMLAttribute
		return &XMLNode{Name: "r", Item: &XMLNode{Name: "i", Members: map[string]*XMLNode{"a": a}, Places: map[string]int{"a": 0}}}
	}
	multipart := func(p Part, v []byte) func() ([]byte, error) {
		return func() ([]byte, error) {
			e, err := NewMultipartEncoder(Multipart{Named: true, Parts: map[string]Part{"f": p}})
			if err != nil {
				return nil, err
			}
			return e.Append(nil, NewBoundary(), func(yield func(string, []byte) bool) { yield("f", v) })
		}
	}
	file := func(text string) func() ([]byte, error) {
		return func() ([]byte, error) {
			out, mediaType, err := AppendFile(nil, []byte(text), nil)
			return append(out, mediaType...), err
		}
	}
	const repeated = "has too many members with too long names to be sent"
	for _, c := range []struct {
		name   string
		run    func() ([]byte, error)
		reason string
	}{
		{"parameters of a data URL", file(`"data:a/b;` + strings.Repeat("x;", mega/8) + `,a"`), "must be a data URL with at most 4096 characters before the comma, or base64 alone"},
		{"a long media type", file(`{"text":"a","media_type":"a/b` + strings.Repeat(";a=b", mega/4) + `"}`), "must be a media type of at most 512 characters"},
		{"many XML attributes", xml(&XMLNode{Name: "r", Other: &XMLNode{Kind: XMLAttribute}}, object), ""},
		{"many XML elements in order", xml(&XMLNode{Name: "r", Members: members, Places: places}, object), ""},
		{"one XML element of many", xml(&XMLNode{Name: "r", Item: &XMLNode{Members: members, Places: places}}, list(`{"a65535":1}`, mega/13)), ""},
		{"long namespaces of XML attributes", xml(attribute(&XMLNode{Name: "a", Prefix: "p", Namespace: long}), list(`{"a":1}`, 4096)), repeated},
		{"long prefixes of XML attributes", xml(attribute(&XMLNode{Name: "a", Prefix: long, Namespace: "u"}), list(`{"a":1}`, 4096)), repeated},
		{"long names of XML attributes", xml(attribute(&XMLNode{Name: long}), list(`{"a":1}`, 4096)), repeated},
		{"long media types of parts", multipart(Part{Types: []string{"a/" + long}}, list("1", 4096)), repeated},
		{"long headers of parts", multipart(Part{Headers: []PartHeader{{"X-A", long}}}, list("1", 4096)), repeated},
		{"many parts", multipart(Part{}, list("1", mega/2)), repeated},
		{"many files", multipart(Part{File: true}, list(`{"text":"a"}`, mega/13)), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := processorTime(t)
			out, err := c.run()
			reason := ""
			if v := (*ValueError)(nil); errors.As(err, &v) {
				reason = v.Reason
			}
			if reason != c.reason {
				t.Errorf("got %v, want %q", err, c.reason)
			}
			if len(out) > 16*mega {
				t.Errorf("became %d bytes", len(out))
			}
			if used := processorTime(t) - start; used > 3*time.Second {
				t.Errorf("took %v of processor time", used)
			}
		})
	}
}
