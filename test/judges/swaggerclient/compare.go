package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An exchange is one call as both have built it, with what is known of it.
type exchange struct {
	facts     *facts
	call      call
	path      string         // template
	arguments map[string]any // numbers as json.Number
	members   map[string]any // of a form, under their names on the wire
	theirs    *built
	// ours and client are the normal forms of both requests.
	ours, client request
}

// A difference is a piece that the two requests don't have in common. An empty list: the piece is not there.
type difference struct {
	piece
	ours, theirs []string
	rule         string // that explains it; "": none does
	silent       bool   // the rule is about what the standard leaves open
}

func (d difference) String() string {
	show := func(list []string) string {
		if len(list) == 0 {
			return "nothing"
		}
		return fmt.Sprintf("%.400q", list)
	}
	name := d.kind
	if d.name != "" {
		name += " " + d.name
	}
	return fmt.Sprintf("%s: ours %s, theirs %s", name, show(d.ours), show(d.theirs))
}

// compare lists what differs, each difference with the rule that explains it.
func (x *exchange) compare(rules []rule) []difference {
	var all []difference
	for p, ours := range x.ours {
		if theirs := x.client[p]; !slices.Equal(ours, theirs) {
			all = append(all, difference{piece: p, ours: ours, theirs: theirs})
		}
	}
	for p, theirs := range x.client {
		if _, ok := x.ours[p]; !ok {
			all = append(all, difference{piece: p, theirs: theirs})
		}
	}
	slices.SortFunc(all, func(a, b difference) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.name, b.name))
	})
	for i := range all {
		for _, r := range rules {
			if r.explains(&all[i], x) {
				all[i].rule, all[i].silent = r.id, r.silent
				break
			}
		}
	}
	return all
}

// argument returns the value that was given for a parameter, nil if none was.
func (x *exchange) argument(in, name string) (value any, p *parameter) {
	for argument, p := range x.facts.Parameters {
		if p.In == in && (p.Name == name || in == "header" && strings.EqualFold(p.Name, name)) {
			return x.arguments[argument], &p
		}
	}
	return nil, nil
}

// owner finds the query or cookie parameter that made the piece of that name: one of that name, one whose member it is
// ("name[member]"), or one with an exploded object that has such a member.
func (x *exchange) owner(in, name string) (value any, p *parameter) {
	if value, p := x.argument(in, name); p != nil {
		return value, p
	}
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '[' {
			if value, p := x.argument(in, name[:i]); p != nil {
				return value, p
			}
		}
	}
	for argument, p := range x.facts.Parameters {
		if object, ok := x.arguments[argument].(map[string]any); ok && p.In == in {
			if _, ok := object[name]; ok {
				return object, &p
			}
		}
	}
	return nil, nil
}

func newExchange(path string, f *facts, c call, b *built, ours request) (*exchange, error) {
	client, err := ofClient(b, c.Media)
	if err != nil {
		return nil, err
	}
	x := &exchange{facts: f, call: c, path: path, theirs: b, ours: ours, client: client}
	for _, read := range []struct {
		from json.RawMessage
		to   *map[string]any
	}{{c.Arguments, &x.arguments}, {b.Members, &x.members}} {
		if read.from == nil {
			continue
		}
		value, err := decodeJSON(read.from)
		if err != nil {
			return nil, fmt.Errorf("read arguments: %w", err)
		}
		*read.to, _ = value.(map[string]any)
	}
	x.unsaid()
	return x, nil
}

// unsaid takes out what swagger-client, through FormData, doesn't say of a part, and neither did the caller: the type of
// what is no file, the name of a file.
func (x *exchange) unsaid() {
	for p := range x.ours {
		if _, ok := x.client[piece{"part", p.name}]; !ok && (p.kind == "part-type" || p.kind == "part-file") {
			delete(x.ours, p)
		}
	}
	for p, list := range x.client {
		if _, ok := x.ours[piece{"part", p.name}]; !ok && (p.kind == "part-type" || p.kind == "part-file") {
			delete(x.client, p)
		}
		if p.kind == "part-type" && slices.Contains(list, "") || p.kind == "part-file" && (slices.Contains(list, "blob") || slices.Contains(list, "")) {
			delete(x.client, p)
			delete(x.ours, p)
		}
	}
}

// template returns the template of the whole path in the request.
func (x *exchange) template() string {
	path, _, _ := strings.Cut(x.path, "#")
	path, _, _ = strings.Cut(path, "?")
	return strings.TrimSuffix(base.Path, "/") + path
}

// segment returns the template of a segment of the path, by its number in the request.
func (x *exchange) segment(number string) string {
	segments := strings.Split(x.template(), "/")
	if i, err := strconv.Atoi(number); err == nil && i < len(segments) {
		return segments[i]
	}
	return ""
}

// text returns a scalar as it is written in a parameter.
func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return string(v)
	case bool:
		return fmt.Sprint(v)
	default:
		return ""
	}
}
