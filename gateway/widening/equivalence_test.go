package widening

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/config"
	"drawbridge/gateway/widening/former"
)

func seeds(t *testing.T) (all_ []*config.Config) {
	t.Helper()
	all_ = append(all_, loadAll(t), load(t, base), loadWith(t, outward, "certificate"))
	files, _ := filepath.Glob("../../config/testdata/*.txtar")
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		var yamls []string
		for _, file := range txtar.Parse(data).Files {
			p := filepath.Join(dir, file.Name)
			_ = os.MkdirAll(filepath.Dir(p), 0o700)
			_ = os.WriteFile(p, file.Data, 0o600)
			if strings.HasSuffix(p, ".yaml") {
				yamls = append(yamls, p)
			}
		}
		for _, p := range yamls {
			if c, _ := config.Load(p, func(string) string { return "" }); c != nil {
				all_ = append(all_, c)
			}
		}
	}
	return all_
}

func loadAll(t *testing.T) *config.Config {
	dir := t.TempDir()
	for name, from := range map[string]string{"tls.crt": "certificate", "tls.key": "key"} {
		writePair(t, filepath.Join(dir, name), from)
	}
	file := filepath.Join(dir, "drawbridge.yaml")
	_ = os.WriteFile(file, []byte(all), 0o600)
	c, problems := config.Load(file, func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	return c
}

type pool map[reflect.Type][]reflect.Value

func (p pool) collect(v reflect.Value) {
	if len(p[v.Type()]) < 400 && v.CanInterface() {
		p[v.Type()] = append(p[v.Type()], v)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			p.collect(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			p.collect(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			p.collect(k)
			p.collect(v.MapIndex(k))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				p.collect(v.Field(i))
			}
		}
	}
}

func (p pool) pick(r *rand.Rand, t reflect.Type) reflect.Value {
	if all := p[t]; len(all) > 0 {
		return all[r.IntN(len(all))]
	}
	return reflect.Zero(t)
}

// mutate returns a copy of a value with a change in one place.
func (p pool) mutate(r *rand.Rand, v reflect.Value, depth int) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		switch {
		case v.IsNil():
			out.Set(p.pick(r, v.Type()))
		case r.IntN(6) == 0:
			out.SetZero()
		default:
			n := reflect.New(v.Type().Elem())
			n.Elem().Set(p.mutate(r, v.Elem(), depth+1))
			out.Set(n)
		}
	case reflect.Slice:
		n := v.Len()
		list := reflect.MakeSlice(v.Type(), 0, n+1)
		list = reflect.AppendSlice(list, v)
		switch choice := r.IntN(6); {
		case n == 0 || choice == 0:
			list = reflect.Append(list, p.pick(r, v.Type().Elem()))
			if k := list.Len(); k > 1 && r.IntN(2) == 0 {
				reflect.Swapper(list.Interface())(0, k-1)
			}
		case choice == 1:
			i := r.IntN(n)
			list = reflect.AppendSlice(list.Slice(0, i), v.Slice(i+1, n))
		case choice == 2 && n > 1:
			reflect.Swapper(list.Interface())(r.IntN(n), r.IntN(n))
		default:
			i := r.IntN(n)
			list.Index(i).Set(p.mutate(r, v.Index(i), depth+1))
		}
		if list.Len() == 0 && r.IntN(2) == 0 {
			list = reflect.Zero(v.Type())
		}
		out.Set(list)
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			m.SetMapIndex(k, v.MapIndex(k))
		}
		switch choice := r.IntN(4); {
		case len(keys) == 0 || choice == 0:
			val := p.pick(r, v.Type().Elem())
			if val.Kind() != reflect.Pointer || !val.IsNil() {
				m.SetMapIndex(p.pick(r, v.Type().Key()), val)
			}
		case choice == 1:
			m.SetMapIndex(keys[r.IntN(len(keys))], reflect.Value{})
		default:
			k := keys[r.IntN(len(keys))]
			val := p.mutate(r, v.MapIndex(k), depth+1)
			if val.Kind() == reflect.Pointer && val.IsNil() {
				break
			}
			m.SetMapIndex(k, val)
		}
		out.Set(m)
	case reflect.Struct:
		var fields []int
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Tag.Get("yaml") != "" && f.IsExported() {
				weight := 1
				if !strings.HasPrefix(f.Tag.Get("access"), "none") {
					weight = 4
				}
				switch f.Name {
				case "Auth", "Issuers", "APIs":
					weight *= 4
				case "Discovery":
					weight *= 2
				}
				if !v.Field(i).IsZero() {
					weight *= 2
				}
				for range weight {
					fields = append(fields, i)
				}
			}
		}
		if len(fields) == 0 || depth > 1 && r.IntN(12) == 0 {
			out.Set(p.pick(r, v.Type()))
			break
		}
		i := fields[r.IntN(len(fields))]
		out.Field(i).Set(p.mutate(r, v.Field(i), depth+1))
	case reflect.Bool:
		out.SetBool(!v.Bool())
	default:
		if r.IntN(4) == 0 {
			out.SetZero()
		} else {
			out.Set(p.pick(r, v.Type()))
		}
	}
	return out
}

func valid(c *config.Config) bool {
	unique := func(n int, name func(i int) string) bool {
		seen := map[string]bool{}
		for i := range n {
			if seen[name(i)] {
				return false
			}
			seen[name(i)] = true
		}
		return true
	}
	if c.Limits.MaxCalls == 0 || slices.ContainsFunc(c.APIs, func(a config.API) bool { return a.MaxInFlight == 0 }) {
		return false
	}
	if a := c.Auth; a != nil {
		if !unique(len(a.Issuers), func(i int) string { return a.Issuers[i].Issuer.String() }) {
			return false
		}
	}
	for i := range c.Discovery {
		for j := range c.Discovery[i].Credentials {
			for _, x := range c.Discovery[i].Credentials[:j] {
				if encode(x.Match) == encode(c.Discovery[i].Credentials[j].Match) {
					return false
				}
			}
		}
	}
	return unique(len(c.Endpoints), func(i int) string { return c.Endpoints[i].Name }) && unique(len(c.Prompts), func(i int) string { return c.Prompts[i].Name }) &&
		unique(len(c.Discovery), func(i int) string { return c.Discovery[i].Name }) && unique(len(c.Admin.Console.Tokens), func(i int) string { return c.Admin.Console.Tokens[i].Name })
}

func TestEquivalence(t *testing.T) {
	pairs, seed := 2000, rand.Uint64()
	if n, err := strconv.Atoi(os.Getenv("PAIRS")); err == nil {
		pairs = n
	}
	if n, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("SEED=%d PAIRS=%d", seed, pairs)
	from := seeds(t)
	p := pool{}
	for _, c := range from {
		p.collect(reflect.ValueOf(c).Elem())
	}
	r := rand.New(rand.NewPCG(seed, 1))
	verdicts, texts := 0, 0
	wider, skipped := 0, 0
	seen := map[string]int{}
	for range pairs {
		c := from[r.IntN(len(from))]
		if r.IntN(3) == 0 {
			c = from[0]
		}
		change := func(c *config.Config, n int) *config.Config {
			v := reflect.ValueOf(c).Elem()
			for range n {
				v = p.mutate(r, v, 0)
			}
			x := v.Interface().(config.Config)
			return &x
		}
		a := change(c, r.IntN(4))
		b := change(a, 1+r.IntN(4))
		d := change(b, r.IntN(3))
		if r.IntN(4) == 0 {
			d = a // it comes back
		}
		if !valid(a) || !valid(b) || !valid(d) {
			skipped++
			continue
		}
		fa, na := former.Of(a, nil), Of(a, nil)
		fb, nb := former.Of(b, fa), Of(b, na)
		fd, nd := former.Of(d, fb), Of(d, nb)
		for _, got := range [][2][]string{{former.Wider(fa, fb, nil), Wider(na, nb, nil)}, {former.Wider(fb, fd, nil), Wider(nb, nd, nil)}} {
			slices.Sort(got[0])
			slices.Sort(got[1])
			if len(got[0]) > 0 {
				wider++
			}
			for _, line := range got[0] {
				words := strings.FieldsFunc(line, func(r rune) bool { return r == '"' })
				key, rest, _ := strings.Cut(line, ": ")
				if key == "apis" {
					_, rest, _ = strings.Cut(rest, ": ")
				}
				if i := strings.Index(key, "."); strings.HasPrefix(key, "discovery.") || strings.HasPrefix(key, "auth.implies") {
					key = key[:i]
				}
				if strings.HasPrefix(rest, "of ") {
					_, rest, _ = strings.Cut(rest, ", ")
				}
				_ = words
				seen[key+": "+strings.Join(strings.Fields(rest)[:min(4, len(strings.Fields(rest)))], " ")]++
			}
			if (len(got[0]) > 0) != (len(got[1]) > 0) {
				if verdicts++; verdicts < 20 {
					t.Errorf("old %q\nnew %q", got[0], got[1])
				}
			} else if g := slices.Compact(got[0]); !slices.Equal(g, slices.Compact(got[1])) {
				if texts++; texts < 12 {
					var o, n []string
					for _, x := range got[0] {
						if !slices.Contains(got[1], x) {
							o = append(o, x)
						}
					}
					for _, x := range got[1] {
						if !slices.Contains(got[0], x) {
							n = append(n, x)
						}
					}
					t.Logf("texts: only old %q\n   only new %q", o, n)
				}
			}
		}
	}
	for _, k := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%6d %s", seen[k], k)
	}
	t.Logf("%d pairs (skipped %d), %d wider, %d verdicts differ, %d texts differ", 2*pairs, skipped, wider, verdicts, texts)
}
