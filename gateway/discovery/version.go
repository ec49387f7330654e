package discovery

import (
	"cmp"
	"slices"
	"strings"
)

// compareVersions compares two values of info.version: numbers that are separated by dots, any number of them, and then a pre-release as in
// Semantic Versioning. ok is false if one of them is none, so that they say nothing of which is newer.
func compareVersions(a, b string) (order int, ok bool) {
	if a == b {
		return 0, true
	}
	x, ok := parseVersion(a)
	y, also := parseVersion(b)
	if !ok || !also {
		return 0, false
	}
	for i := range max(len(x.numbers), len(y.numbers)) {
		if order := compareNumbers(at(x.numbers, i), at(y.numbers, i)); order != 0 {
			return order, true
		}
	}
	return comparePreReleases(x.preRelease, y.preRelease), true
}

func at(numbers []string, i int) string {
	if i < len(numbers) {
		return numbers[i]
	}
	return "0"
}

// version is a version as text; its numbers have no limit.
type version struct{ numbers, preRelease []string }

// maxVersion is the most bytes of a version that is compared.
const maxVersion = 128

func parseVersion(text string) (v version, ok bool) {
	text = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(text), "v"), "V")
	text, _, _ = strings.Cut(text, "+") // metadata of the build has no order
	core, preRelease, found := strings.Cut(text, "-")
	if len(text) > maxVersion {
		return v, false
	}
	if found {
		v.preRelease = strings.Split(preRelease, ".")
	}
	v.numbers = strings.Split(core, ".")
	return v, !slices.ContainsFunc(v.numbers, func(n string) bool { return !isNumber(n) })
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// comparePreReleases compares as Semantic Versioning 2.0.0, section 11, does: a version without a pre-release is newer than one with it.
func comparePreReleases(a, b []string) int {
	if len(a) == 0 || len(b) == 0 {
		return cmp.Compare(len(b), len(a))
	}
	return slices.CompareFunc(a, b, func(a, b string) int {
		switch x, y := isNumber(a), isNumber(b); {
		case x && y:
			return compareNumbers(a, b)
		case x:
			return -1
		case y:
			return 1
		}
		return strings.Compare(a, b)
	})
}
