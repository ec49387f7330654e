package text

import "testing"

func TestDidYouMean(t *testing.T) {
	for _, c := range []struct {
		near []string
		want string
	}{
		{nil, ""},
		{[]string{""}, ""},
		{[]string{"limit"}, `; did you mean "limit"?`},
		{[]string{"a\"b\n"}, `; did you mean "a\"b\n"?`},
		{[]string{"getThing", "", "listThings", "thing"}, `; did you mean "getThing" or "listThings" or "thing"?`},
	} {
		if got := DidYouMean(c.near...); got != c.want {
			t.Errorf("%q: %q, want %q", c.near, got, c.want)
		}
	}
}
