package projection

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/openapi/jsonscan"
)

// FuzzDropNulls compares what is left of an answer with its values as encoding/json reads them.
func FuzzDropNulls(f *testing.F) {
	for _, seed := range []string{
		`{"a":null}`, `{"a":null,"b":1}`, `{"a":1,"b":null}`, `{"a":1,"b":null,"c":2}`, `{"a":null,"b":null}`, `[null,{"a":null},[null]]`, `null`, `":null"`,
		`{":null":":null","\":null":null}`, `{"":null}`, `{"a":"\\","b":null}`, `{"a":{"b":{"c":null}},"d":[{"e":null}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := jsonscan.Scan(text, jsonscan.Options{Unique: true}); err != nil {
			return
		}
		data, _ := Compact(text)
		kept, dropped := dropNulls(data)
		var before, after any
		if json.Unmarshal(data, &before) != nil {
			return
		}
		if err := json.Unmarshal(kept, &after); err != nil {
			t.Fatalf("%s becomes %s: %v", data, kept, err)
		}
		want, nulls := withoutNulls(before)
		if diff := cmp.Diff(want, after); diff != "" || dropped != nulls {
			t.Errorf("%s: %d members are dropped, want %d (-want +got):\n%s", data, dropped, nulls, diff)
		}
	})
}

// withoutNulls returns a decoded value without members that are null, and their number.
func withoutNulls(value any) (without any, dropped int) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if member == nil {
				delete(v, name)
				dropped++
				continue
			}
			var more int
			v[name], more = withoutNulls(member)
			dropped += more
		}
	case []any:
		for i := range v {
			var more int
			v[i], more = withoutNulls(v[i])
			dropped += more
		}
	}
	return value, dropped
}
