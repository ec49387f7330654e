package wire

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"drawbridge/openapi/jsonscan"

	"github.com/google/go-cmp/cmp"
)

// element is an element as encoding/xml, an independent implementation, reads it.
type element struct {
	Name       string
	Attributes []string
	Text       string
	Children   []*element
}

func readXML(data []byte) (*element, error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	root := &element{}
	open := []*element{root}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			if len(root.Children) != 1 {
				return nil, fmt.Errorf("%d root elements", len(root.Children))
			}
			return root.Children[0], nil
		}
		if err != nil {
			return nil, err
		}
		top := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{Name: token.Name.Space + " " + token.Name.Local}
			for _, a := range token.Attr {
				if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
					e.Attributes = append(e.Attributes, a.Name.Space+" "+a.Name.Local+"="+a.Value)
				}
			}
			slices.Sort(e.Attributes)
			top.Children = append(top.Children, e)
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			top.Text += string(token)
		}
	}
}

var xmlPieces = []string{"a", " ", "<", ">", "&", "]]>", "\"", "'", "\r", "\n", "\r\n", "\t", "é", "😀", "&amp;", "<!--", "<![CDATA[", "1"}

func xmlText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString(xmlPieces[r.IntN(len(xmlPieces))])
	}
	return b.String()
}

// randomXML makes a plan, a value for it, and the expected result of a reader.
func randomXML(r *rand.Rand, name string, depth int) (n *XMLNode, value any, want *element) {
	n = &XMLNode{Name: name}
	space := ""
	if r.IntN(3) == 0 {
		n.Prefix = string(rune('p' + r.IntN(3)))
		n.Namespace = fmt.Sprintf("https://ns.example/%d?a&b", r.IntN(3))
		space = n.Namespace
	}
	want = &element{Name: space + " " + name}
	if depth == 0 || r.IntN(3) == 0 {
		text := xmlText(r)
		want.Text = text
		return n, text, want
	}
	object := map[string]any{}
	n.Members, n.Places = map[string]*XMLNode{}, map[string]int{}
	for i := range 1 + r.IntN(4) {
		member := fmt.Sprintf("m%d", i)
		var plan *XMLNode
		switch r.IntN(5) {
		case 0:
			text := xmlText(r)
			plan, object[member] = &XMLNode{Name: member, Kind: XMLAttribute}, text
			want.Attributes = append(want.Attributes, " "+member+"="+text)
		case 1: // a list
			wrapped := r.IntN(2) == 0
			item := &XMLNode{Name: "item"}
			plan = &XMLNode{Name: member, Wrapped: wrapped, Item: item}
			list, into := []string{xmlText(r), xmlText(r)}, want
			object[member] = list
			if wrapped {
				into = &element{Name: " " + member}
				want.Children = append(want.Children, into)
			}
			for _, text := range list {
				into.Children = append(into.Children, &element{Name: " item", Text: text})
			}
		case 2:
			text := xmlText(r)
			plan, object[member] = &XMLNode{Kind: []XMLKind{XMLText, XMLCDATA}[r.IntN(2)]}, text
			want.Text += text
		default:
			var child *element
			plan, object[member], child = randomXML(r, member, depth-1)
			want.Children = append(want.Children, child)
		}
		n.Places[member] = len(n.Members)
		n.Members[member] = plan
	}
	return n, object, want
}

// TestXMLRoundTrip reads documents back with encoding/xml: names with their namespaces, attributes, every character of
// text.
func TestXMLRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		n, value, want := randomXML(r, "root", 4)
		text := marshal(t, value)
		out, err := n.Append(nil, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got, err := readXML(out)
		if err != nil {
			t.Fatalf("%s: %s: %v", text, out, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n%s\n%s", text, out, diff)
		}
	}
}

// TestXMLOfNull checks that a document has one root, even for null.
func TestXMLOfNull(t *testing.T) {
	n := &XMLNode{Name: "order", Prefix: "o", Namespace: "urn:orders"}
	for value, want := range map[string]string{
		`null`:   `<o:order xmlns:o="urn:orders"></o:order>`,
		`[null]`: `<o:order xmlns:o="urn:orders"></o:order>`,
		`{}`:     `<o:order xmlns:o="urn:orders"></o:order>`,
	} {
		if out, err := n.Append(nil, []byte(value)); err != nil || string(out) != xmlDeclaration+want {
			t.Errorf("%s: %s, %v", value, out, err)
		}
	}
}

// FuzzXML checks that any value is written as well-formed XML, or refused with an error for the model.
func FuzzXML(f *testing.F) {
	for _, seed := range []string{`{"a":"x","b":[1,{"c":null}],"d":{"e":true}}`, `{"a b":1}`, `{"a":"\u0001"}`, `[[1],[2]]`, `"<x>"`, `{"xml:a":1,"-":2}`,
		`{"attr":"\"&<\n","text":"]]>","cdata":"]]>]]>"}`, `{"attr":{}}`, `{"list":[[[]]]}`, `null`, `[null]`, `""`} {
		f.Add(seed)
	}
	recursive := &XMLNode{Name: "root", Prefix: "p", Namespace: "urn:x"}
	recursive.Members = map[string]*XMLNode{
		"attr": {Name: "attr", Kind: XMLAttribute, Prefix: "q", Namespace: "urn:q"}, "text": {Kind: XMLText}, "cdata": {Kind: XMLCDATA},
		"list": {Wrapped: true, Item: recursive}, "a": recursive, "none": {Kind: XMLNone, Item: recursive},
	}
	recursive.Places = map[string]int{"attr": 0, "text": 1, "cdata": 2, "list": 3, "a": 4, "none": 5}
	f.Fuzz(func(t *testing.T, value string) {
		if !validJSON(value) {
			return
		}
		out, err := recursive.Append(nil, []byte(value))
		if err != nil {
			if ve := (*ValueError)(nil); !errors.As(err, &ve) {
				t.Fatalf("%s: the error is a %T", value, err)
			}
			return
		}
		_, err = readXML(out)
		if err != nil && strings.Contains(err.Error(), "invalid XML name") && !ascii(out) {
			t.Skip("encoding/xml has the names of the fourth edition of XML 1.0, the fifth has more")
		}
		if err != nil {
			t.Fatalf("%s: %s: %v", value, out, err)
		}
	})
}

func validJSON(value string) bool {
	_, err := jsonscan.Scan([]byte(value), jsonscan.Options{Unique: true})
	return err == nil
}

func ascii(text []byte) bool {
	for _, c := range text {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// TestXMLExact checks the encoding of names, namespaces and attributes byte for byte, and the positions of errors.
func TestXMLExact(t *testing.T) {
	attribute := func(name string) *XMLNode { return &XMLNode{Name: name, Kind: XMLAttribute} }
	plan := &XMLNode{
		Name: "r", Prefix: "p", Namespace: `urn:"a"`,
		Members: map[string]*XMLNode{
			"a": attribute("a"), "b": attribute("a"), "c": {Name: "c", Kind: XMLAttribute, Prefix: "p", Namespace: "urn:b"},
			"d": {Name: "d", Prefix: "p", Namespace: "urn:b"}, "l": {Name: "l", Item: &XMLNode{Name: "i"}},
			"t": {Kind: XMLText}, "n": {Kind: XMLNone}, "k": {Kind: XMLCDATA}, "s": {Name: "s", Prefix: "q", Namespace: "\x01"}, "u": {Name: "u", Kind: XMLAttribute, Prefix: "q", Namespace: "\x01"},
		},
	}
	const open = xmlDeclaration + `<p:r xmlns:p="urn:&quot;a&quot;"`
	for value, want := range map[string]string{
		`{"t":{"a":1}}`:      "✗ /t: must be a plain value, not an object: it is sent as text",
		`{"n":5}`:            open + `>5</p:r>`,
		`{"n":"\u0001"}`:     "✗ /n: must not contain the character U+0001: XML has no way to write it",
		`{"k":"\u0001"}`:     "✗ /k: must not contain the character U+0001: XML has no way to write it",
		`{"s":1}`:            "✗ /s: must not contain the character U+0001: XML has no way to write it",
		`{"u":1}`:            "✗ /u: must not contain the character U+0001: XML has no way to write it",
		`{"a":1}`:            open + ` a="1"></p:r>`,
		`{"a":1,"b":2}`:      `✗ /b: can't be sent: there is another attribute "a"`,
		`{"a":[1]}`:          "✗ /a: must be a plain value, not an array: it is sent as an attribute",
		`{"a":{"b":1}}`:      "✗ /a: must be a plain value, not an object: it is sent as an attribute",
		`{"c":1}`:            open + ` c="1"></p:r>`,
		`{"d":1}`:            open + `><p:d xmlns:p="urn:b">1</p:d></p:r>`,
		`{"l":[1,2]}`:        open + `><i>1</i><i>2</i></p:r>`,
		`{"l":[1,"\u0001"]}`: "✗ /l/1: must not contain the character U+0001: XML has no way to write it",
		`{"x-y.z":1}`:        open + `><x-y.z>1</x-y.z></p:r>`,
		`{"-x":1}`:           `✗ /-x: can't be sent: "-x" can't be the name of an XML element`,
		`{"é":1}`:            open + `><é>1</é></p:r>`,
		`{"¡":1}`:            `✗ /¡: can't be sent: "¡" can't be the name of an XML element`,
	} {
		out, err := plan.Append(nil, []byte(value))
		got := string(out)
		if err != nil {
			got = "✗ " + err.Error()
		}
		if members, again := plan.AppendMembers(nil, jsonMembers([]byte(value))); fmt.Sprint(again) != fmt.Sprint(err) || string(members) != string(out) {
			t.Errorf("%s: by its members %s, %v", value, members, again)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
}

// TestXMLRoot checks that for any plan, the root of a document is an element.
func TestXMLRoot(t *testing.T) {
	n := &XMLNode{Name: "r", Kind: XMLAttribute, Namespace: "urn:x"}
	want := xmlDeclaration + `<r xmlns="urn:x"><a>1</a></r>`
	if out, err := n.AppendMembers(nil, jsonMembers([]byte(`{"a":1}`))); err != nil || string(out) != want {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := n.Append(nil, []byte(`{"a":1}`)); err != nil || string(out) != want {
		t.Errorf("%s, %v", out, err)
	}
}

// TestXMLNames checks the limits of the ranges of characters in a name.
func TestXMLNames(t *testing.T) {
	for name, want := range map[string]bool{
		"": false, "A": true, "Z": true, "a": true, "z": true, "_": true, "@": false, "[": false, "`": false, "{": false, "0": false, "a0": true, "a9": true, "a/": false, "a:": false,
		"a\u00b7": true, "\u00b7": false, "a\u0300": true, "a\u036f": true, "\u0300": false, "\u036f": false, "a\u203f": true, "a\u2040": true, "a\u203e": false, "a\u2041": false,
		"\u00bf": false, "\u00c0": true, "\u00d6": true, "\u00d7": false, "\u00d8": true, "\u00f7": false, "\u02ff": true, "\u037e": false, "\U000effff": true, "\U000f0000": false,
	} {
		if isXMLName(name) != want {
			t.Errorf("%q is a name: %t", name, !want)
		}
	}
}
