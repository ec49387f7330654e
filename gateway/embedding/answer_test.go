package embedding

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestParse checks that a response yields exactly the requested vectors, in the order of the texts, or an error that
// names the fault without quoting the response.
func TestParse(t *testing.T) {
	long := "[" + strings.Repeat("1,", maxDimensions) + "1]"
	for _, tt := range []struct {
		name, body    string
		n, dimensions int
		want          string // the components, or the error
	}{
		{"two", `{"object":"list","data":[{"index":0,"embedding":[3,4]},{"index":1,"embedding":[0,-1]}]}`, 2, 0, "[95 127] [0 -127]"},
		{"by index", `{"data":[{"embedding":[1,0],"index":1},{"embedding":[0,1],"index":0}]}`, 2, 2, "[0 127] [127 0]"},
		{"without index", `{"data":[{"embedding":[1,0]},{"embedding":[0,1]}]}`, 2, 2, "[127 0] [0 127]"},
		{"exponents", `{"data":[{"embedding":[1e-3,-2.5E-3]}]}`, 1, 2, "[51 -127]"},
		{"more members", `{"data":[{"embedding":[1],"index":0,"object":"embedding","x":{"y":[]}}],"usage":{"total_tokens":8}}`, 1, 0, "[127]"},
		{"wrong dimensions", `{"data":[{"embedding":[1,2,3]}]}`, 1, 2, "vector 0: it has 3 dimensions, expected 2"},
		{"different dimensions", `{"data":[{"embedding":[1,2]},{"embedding":[1]}]}`, 2, 0, "vector 1: it has 1 dimensions, expected 2"},
		{"too many dimensions", `{"data":[{"embedding":` + long + `}]}`, 1, 0, "vector 0: it has more than 4096 dimensions"},
		{"none", `{"data":[{"embedding":[]}]}`, 1, 0, "vector 0: it is zero"},
		{"zero", `{"data":[{"embedding":[0,0]}]}`, 1, 0, "vector 0: it is zero"},
		{"NaN", `{"data":[{"embedding":[NaN,1]}]}`, 1, 0, "the answer is not JSON"},
		{"NaN as a string", `{"data":[{"embedding":["NaN",1]}]}`, 1, 0, "vector 0: a component is not a number"},
		{"null", `{"data":[{"embedding":[null,1]}]}`, 1, 0, "vector 0: a component is not a number"},
		{"no float", `{"data":[{"embedding":[1e39,1]}]}`, 1, 0, "vector 0: a component is not a number"},
		{"base64", `{"data":[{"embedding":"AACAPwAAAAA="}]}`, 1, 0, "vector 0: it has no array embedding"},
		{"too few", `{"data":[{"embedding":[1]}]}`, 2, 0, "the answer has 1 vectors, expected 2"},
		{"too many", `{"data":[{"embedding":[1]},{"embedding":[1]}]}`, 1, 0, "the answer has more than 1 vectors"},
		{"twice the same", `{"data":[{"embedding":[1],"index":0},{"embedding":[1],"index":0}]}`, 2, 0, "vector 1: its index is wrong"},
		{"index of no text", `{"data":[{"embedding":[1],"index":7}]}`, 1, 0, "vector 0: its index is wrong"},
		{"negative index", `{"data":[{"embedding":[1],"index":-1}]}`, 1, 0, "vector 0: its index is wrong"},
		{"no index", `{"data":[{"embedding":[1],"index":"0"}]}`, 1, 0, "vector 0: its index is wrong"},
		{"no object", `{"data":[[1,2]]}`, 1, 0, "vector 0: it is not an object"},
		{"array", `[{"embedding":[1]}]`, 1, 0, "the answer has no array data"},
		{"error with 200", `{"error":{"message":"secret query"}}`, 1, 0, "the answer has no array data"},
		{"HTML", `<html>secret query</html>`, 1, 0, "the answer is not JSON"},
		{"nothing", ``, 1, 0, "the answer is not JSON"},
		{"cut", `{"data":[{"embedding":[1`, 1, 0, "the answer is not JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, err := parse([]byte(tt.body), tt.n, tt.dimensions)
			var got []string
			for _, v := range found {
				got = append(got, fmt.Sprint(v.values))
			}
			if err != nil {
				got = []string{err.Error()}
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("%s, want %s", text, tt.want)
			}
		})
	}
}

// FuzzParse checks that any response yields as many vectors as texts, all of one length, or none.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":0,"embedding":[3,4]},{"index":1,"embedding":[0,-1]}]}`), 2)
	f.Add([]byte(`{"data":[{"embedding":[1e9,-0.0,null]}]}`), 1)
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		if n < 1 || n > 64 {
			return
		}
		found, err := parse(body, n, 0)
		if err != nil {
			if found != nil {
				t.Fatal("vectors with an error")
			}
			return
		}
		for i := range found {
			if len(found[i].values) != len(found[0].values) || len(found[i].values) == 0 {
				t.Fatalf("%d and %d dimensions", len(found[i].values), len(found[0].values))
			}
			if c := found[i].cosine(&found[i]); math.Abs(float64(c)-1) > 1e-3 {
				t.Fatalf("the cosine with itself is %v", c)
			}
		}
	})
}

// TestCosine checks that bytes yield nearly the cosine of the floats.
func TestCosine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dimensions := range []int{1, 2, 64, 384, maxDimensions} {
		for range 50 {
			a, b := make([]float32, dimensions), make([]float32, dimensions)
			var dot, x, y float64
			for i := range a {
				a[i], b[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
				dot, x, y = dot+float64(a[i])*float64(b[i]), x+float64(a[i])*float64(a[i]), y+float64(b[i])*float64(b[i])
			}
			v, ok := newVector(a)
			w, known := newVector(b)
			if !ok || !known {
				t.Fatal("no vector")
			}
			if got, want := float64(v.cosine(&w)), dot/math.Sqrt(x*y); math.Abs(got-want) > 0.01 {
				t.Errorf("%d dimensions: %v, want %v", dimensions, got, want)
			}
		}
	}
	for _, bad := range [][]float32{nil, {0, 0}, {float32(math.NaN())}, {float32(math.Inf(1)), 1}, {1, float32(math.NaN())}} {
		if _, ok := newVector(bad); ok {
			t.Errorf("%v is a vector", bad)
		}
	}
}

// BenchmarkNearest measures the search among 10,000 tools with vectors of 384 dimensions.
func BenchmarkNearest(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	f := benchFinder(r, 10000, 384)
	v := f.vectors[0].Load()
	for b.Loop() {
		f.nearest(v, query("x", depth))
	}
}
