package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"drawbridge/test/race"
)

// overlayCap is the maximum processor time of an overlay with its document.
const overlayCap = 3 * time.Second

// hostileOverlay is an overlay that grows.
type hostileOverlay struct {
	n    int                // the smallest size; it is grown to three and ten times that
	want string             // regular expression for the error at ten times the size; "" if it is applied
	text func(n int) string // its actions as JSON, or all of it as YAML if it begins with "overlay:"
}

// hostileOverlays are the kinds, by name.
func hostileOverlays() map[string]hostileOverlay {
	const tooLong, tooDeep, tooMuch = `it is longer than 16384 bytes$|have more than 2097152 bytes together`, `nested more than 32 levels deep`, `takes too long for a document of this size`
	target := func(before, text, after string) func(int) string {
		return func(n int) string {
			return fmt.Sprintf(`{"target":%s,"remove":true}`, asJSON(before+strings.Repeat(text, n)+after))
		}
	}
	each := func(format string) func(int) string {
		return func(n int) string {
			return list(n, format, func(i int) []any { return []any{i} })
		}
	}
	return map[string]hostileOverlay{
		"parentheses":  {100_000, tooLong, target("$[?", "(", "")},
		"brackets":     {100_000, tooLong, target("$", "[", "")},
		"filters":      {100_000, tooLong, target("$", "[?@", "")},
		"negations":    {100_000, tooLong, target("$[?", "!(", "")},
		"conjunctions": {100_000, tooLong, target("$[?", "(@.a&&", "")},
		"functions":    {100, tooDeep, target("$[?", "length(", "")},
		"short and deep": {100, tooDeep, func(n int) string {
			return fmt.Sprintf(`{"target":%s,"remove":true}`, asJSON("$"+strings.Repeat("[?@", n)+strings.Repeat("]", n)))
		}},
		"long names":  {100_000, tooLong, target("$['", `\u0061`, "']")},
		"open groups": {90, "", target("$.paths.*.*[?match(@, '", "(", "')]")},
		"nested groups": {30, tooMuch, func(n int) string {
			return fmt.Sprintf(`{"target":%s,"remove":true}`, asJSON("$..[?search(@.description, '"+strings.Repeat("(", n)+"[a-z ]"+strings.Repeat("*)", n)+"x')]"))
		}},
		"repetitions":  {3, `takes a program of more than 10000 instructions`, target("$.paths.*.*[?match(@, '", "(.?){999}", "')]")},
		"patterns":     {200, tooMuch, each(`{"target":"$..[?match(@.operationId, '([a-z]{1,90}){1,9}%d.*')]","remove":true}`)},
		"own patterns": {100, tooMuch + `|more than 1800000 values`, each(`{"target":"$.paths.*.*[?match(@, @)]","x-n":%d,"update":"s"}`)},
		"long text": {300_000, tooMuch, func(n int) string {
			return fmt.Sprintf(`{"target":"$.info","update":{"description":%s}},{"target":"$.paths.*[?length($.info.description)<1 || search($.info.description, 'a+b')]","remove":true}`, asJSON(strings.Repeat("a", n)))
		}},
		"digits": {100_000, tooMuch, func(n int) string {
			return fmt.Sprintf(`{"target":"$.info","update":{"x-n":%s}},{"target":"$.paths.*[?$.info['x-n']<1]","remove":true}`, strings.Repeat("7", n))
		}},
		"descendants": {500, "", target("$", "..*", "")},
		"inner descendants": {5, tooMuch, func(n int) string {
			return fmt.Sprintf(`{"target":"$","update":{"x-deep":%s}},{"target":%s,"remove":true}`, strings.Repeat("[", 150)+strings.Repeat("]", 150), asJSON("$[?count(@"+strings.Repeat("..*", n)+")>9]"))
		}},
		"counts": {10, tooMuch, each(`{"target":"$..[?count(@..[?count($..*)>0])>%d]","remove":true}`)},
		"roots": {3, tooMuch, func(n int) string {
			return fmt.Sprintf(`{"target":%s,"remove":true}`, asJSON("$.paths"+strings.Repeat("[?$.paths", n)+"[?@.x]"+strings.Repeat("]", n)))
		}},
		"selectors":    {500, tooMuch, target("$..[", "*,", "*]")},
		"products":     {20, tooMuch, target("$.paths[?count(@", "[*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*]", ")>0]")},
		"comparisons":  {10, tooMuch, each(`{"target":"$.paths.*[?$.paths==$['x-paths']]","x-n":%d,"remove":true}`)},
		"everything":   {1_000, tooMuch, each(`{"target":"$..[?@.none]","x-n":%d,"update":{}}`)},
		"removals":     {1_000, "", each(`{"target":"$.paths['/p%d']","x-mcp-optional":true,"remove":true}`)},
		"merges":       {1_000, `more than 1800000 values`, each(`{"target":"$.paths.*.*","x-n":%d,"update":{"summary":"s","description":"d"}}`)},
		"empty merges": {1_000, tooMuch, each(`{"target":"$.paths.*.*","x-n":%d,"update":{"responses":{}}}`)},
		"copies":       {3, `more than 1800000 values|nested more than`, each(`{"target":"$.paths","x-n":%d,"update":{"/c%[1]d":{}}},{"target":"$.paths['/c%[1]d']","copy":"$.paths"}`)},
		"large update": {10_000, `more than 1800000 values`, func(n int) string {
			return `{"target":"$.paths.*.*","update":{"x-a":[` + list(n, "%d", func(i int) []any { return []any{i} }) + `]}}`
		}},
		"deep update": {100_000, `nested more than`, func(n int) string {
			return `{"target":"$","update":` + strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) + `}`
		}},
		"unknown members": {100_000, `is unknown; .* and \d+ more$`, func(n int) string {
			return `{"target":"$.x","remove":true,` + list(n, `"m%d":1`, func(i int) []any { return []any{i} }) + `}`
		}},
		"wrong queries": {900, `; and \d+ more$`, func(n int) string {
			return list(n, `{"target":"%d%s","remove":true}`, func(i int) []any { return []any{i, strings.Repeat("<", 1_000)} })
		}},
		"queries": {100, `have more than 2097152 bytes together`, func(n int) string {
			return list(n, `{"target":"$.a[?%s@.b]","x-n":%d,"update":1}`, func(i int) []any { return []any{strings.Repeat("@.a||", 3_000), i} })
		}},
		"actions": {2_000, `an overlay may have at most 10000`, each(`{"target":"$.x%d","update":1}`)},
		"aliases": {1, "more than", func(n int) string {
			var b strings.Builder
			b.WriteString("overlay: 1.1.0\ninfo: {title: T, version: '1'}\nx0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n")
			for i := 1; i <= n; i++ {
				fmt.Fprintf(&b, "x%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
			}
			return b.String() + fmt.Sprintf("actions: [{target: $.info, update: {x: *a%d}}]\n", n)
		}},
		"flow": {100_000, "nested|values in YAML", func(n int) string { return "overlay: 1.1.0\nactions: " + strings.Repeat("[{a: ", n) }},
	}
}

var position = regexp.MustCompile(`(overlay|spec\.json):\d+:\d+: `)

// asJSON returns a text as JSON.
func asJSON(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

// list joins copies of a format by commas.
func list(count int, format string, a func(i int) []any) string {
	var b strings.Builder
	for i := range count {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, format, a(i)...)
	}
	return b.String()
}

// TestBombOverlays applies hostile overlays to a document of 5,000 operations, each also at three and at ten times its
// size, in a process of its own: none crashes it, each takes at most three seconds of processor time and 256 MiB with
// its document, and is refused with its position. With -bombs it prints the table.
func TestBombOverlays(t *testing.T) {
	if race.Enabled {
		t.Skip("far too slow and large under the race detector")
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "overlay\tKiB at 10n\tms at n\t3n\t10n\tMiB\t")
	document := overlaidBombDocument()
	kinds := hostileOverlays()
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		t.Run(name, func(t *testing.T) {
			c := kinds[name]
			var took [3]time.Duration
			for i, times := range []int{1, 3, 10} {
				if times < 10 && !*hardCaps {
					continue
				}
				text := c.text(c.n * times)
				if !strings.HasPrefix(text, "overlay:") {
					text = `{"overlay":"1.1.0","info":{"title":"T","version":"1"},"actions":[` + text + `]}`
				}
				dir := t.TempDir()
				write(t, dir, "spec.json", document)
				e := explodeOverlay(t, write(t, dir, "overlay", text))
				if took[i] = e.cpu; e.cpu > overlayCap || e.Memory > memoryCap {
					if e = explodeOverlay(t, filepath.Join(dir, "overlay")); e.cpu < took[i] { // the machine may have been busy: once more
						took[i] = e.cpu
					}
				}
				if most := overlayCap; took[i] > most && *hardCaps || took[i] > 3*most || e.Memory > memoryCap && *hardCaps || e.Memory > 2*memoryCap {
					t.Errorf("of %d: took %v of processor time and %d MiB: %s", c.n*times, took[i], e.Memory>>20, e.Outcome)
				}
				if times < 10 {
					continue
				}
				if e.Outcome == "" != (c.want == "") || !regexp.MustCompile(c.want).MatchString(e.Outcome) || c.want != "" && !position.MatchString(e.Outcome) || len(e.Outcome) > 20_000 {
					t.Errorf("of %d: %.2000s\nwant %s", c.n*times, e.Outcome, c.want)
				}
				fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t\n", name, len(text)>>10, took[0].Milliseconds(), took[1].Milliseconds(), took[2].Milliseconds(), e.Memory>>20)
			}
			if least := max(took[0], 300*time.Millisecond); *hardCaps && took[2] > 20*least {
				t.Errorf("%v: ten times the size takes more than twenty times as long", took)
			}
		})
	}
	if *hardCaps {
		table.Flush()
		t.Log("\n" + b.String())
	}
}

// overlaidBombDocument is a document of 5,000 operations and 1.3 MB.
func overlaidBombDocument() string {
	paths := list(5_000, `"/p%d":{"get":{"operationId":"operation%[1]d","summary":"Summary %[1]d","description":"A text that says in some words which of the many operations this is.","responses":{"200":{"description":"OK"}}}}`,
		func(i int) []any { return []any{i} })
	return `{"openapi":"3.1.0","info":{"title":"B","version":"1"},"paths":{` + paths + `},"x-paths":{` + paths + `}}`
}

// explodeOverlay loads the document with an overlay in another process.
func explodeOverlay(t *testing.T, path string) exploded {
	t.Helper()
	return explodeIn(t, "TestBombOverlayChild", "BOMB_OVERLAY="+path)
}

// TestBombOverlayChild is the other process of TestBombOverlays.
func TestBombOverlayChild(t *testing.T) {
	path := os.Getenv("BOMB_OVERLAY")
	if path == "" {
		t.Skip("it is run by TestBombOverlays")
	}
	start := time.Now()
	_, err := Load(t.Context(), filepath.Join(filepath.Dir(path), "spec.json"), LoadOptions{Overlays: []string{path}})
	e := exploded{Time: time.Since(start), Memory: peakMemory()}
	if err != nil {
		e.Outcome = strings.ReplaceAll(err.Error(), filepath.Dir(path)+"/", "")
	}
	if err := json.NewEncoder(os.Stdout).Encode(e); err != nil {
		t.Fatal(err)
	}
}
