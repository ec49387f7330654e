package config

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
)

// Release is the version of a release. The zero value is before the first release.
type Release struct {
	Major, Minor, Patch int
	// Pre reports that it is a pre-release, or another version before the release, such as 0.2.0-rc.1.
	Pre bool
}

var releaseForm = regexp.MustCompile(`\Av?(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?\z`)

// ParseRelease reads a version as packages and tags have it: 0.1.0, v0.1.0 or 0.2.0-rc.1. Numbers at the end may be missing: 0 is 0.0.0.
func ParseRelease(text string) (Release, bool) {
	m := releaseForm.FindStringSubmatch(text)
	if m == nil {
		return Release{}, false
	}
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(m[i+1]) // "" is 0, and the pattern limits the digits
	}
	return Release{n[0], n[1], n[2], m[4] != ""}, true
}

// Before reports whether r is older than other.
func (r Release) Before(other Release) bool {
	if c := cmp.Or(cmp.Compare(r.Major, other.Major), cmp.Compare(r.Minor, other.Minor), cmp.Compare(r.Patch, other.Patch)); c != 0 {
		return c < 0
	}
	return r.Pre && !other.Pre
}

func (r Release) String() string {
	text := fmt.Sprintf("%d.%d.%d", r.Major, r.Minor, r.Patch)
	if r.Pre {
		text += "-pre"
	}
	return text
}
