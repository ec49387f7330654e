package catalog

import (
	"strings"
)

// nameTwins gives operations of one API that would have the same name, because their document has an id twice, a suffix of their paths:
// "get_flow_api_v1_flows" and "get_flow_flows". The words depend on the path alone, so that another twin changes no name, unless they are
// the same for two of them: then the method and the variables of the path are added to all. Twins that still have the same name, or one
// that is too long, get a hash as all other clashes do.
func nameTwins(candidates []*candidate, limit int) {
	type key struct{ api, name string }
	byName := make(map[key][]*candidate, len(candidates))
	for _, c := range candidates {
		if c.suffixed || c.derived || c.choice.Name != "" {
			continue
		}
		if id, _ := transliterated(c.op.ID); strings.ContainsFunc(id, isLetter) {
			k := key{c.api, c.name}
			byName[k] = append(byName[k], c)
		}
	}
	for _, twins := range byName {
		if len(twins) < 2 {
			continue
		}
		for _, words := range []func(*candidate) string{literals, methodAndLiterals, wholePath} {
			if names := distinct(twins, words, limit); names != nil {
				for i, c := range twins {
					c.twin, c.full, c.name, c.derived, c.renamed = c.full, names[i], names[i], true, true
				}
				break
			}
		}
	}
}

// distinct returns the names of twins with the suffix that words makes, nil if two are the same or one is too long.
func distinct(twins []*candidate, words func(*candidate) string, limit int) []string {
	names := make([]string, len(twins))
	seen := make(map[string]bool, len(twins))
	for i, c := range twins {
		suffix := words(c)
		names[i] = c.full + "_" + suffix
		if suffix == "" || len(names[i]) > limit || seen[names[i]] {
			return nil
		}
		seen[names[i]] = true
	}
	return names
}

// literals returns the segments of the path that have no variable.
func literals(c *candidate) string {
	path, _, _ := strings.Cut(c.op.Path, "?")
	var kept []string
	for segment := range strings.SplitSeq(path, "/") {
		if !strings.ContainsAny(segment, "{}<>:") {
			kept = append(kept, segment)
		}
	}
	return pathWords(strings.Join(kept, "_"))
}

func methodAndLiterals(c *candidate) string {
	return strings.Trim(strings.ToLower(c.op.Method)+"_"+literals(c), "_")
}

func wholePath(c *candidate) string { return pathWords(strings.ToLower(c.op.Method) + "_" + c.op.Path) }

// pathWords returns the part of a path as a part of a name; "" if letters are lost, which would make names of different paths the same.
func pathWords(path string) string {
	words, lost := transliterated(path)
	if lost {
		return ""
	}
	return words
}
