package schema

// In a merge patch null is no value of a member but removes it (RFC 7396 section 2), whatever the schema says, which is most often
// that of the resource. So null is one of the values of each member of such a body, at any depth and in maps and lists of objects too.
// Elements of lists are values as ever: a patch replaces a list as a whole.

// ofMember returns the place of the schema of a member of an object at the given place.
func (p place) ofMember(name string) place { return place{name: name, merge: p.merge, null: p.merge} }

// ofItem returns the place of the schema of an element of a list at the given place.
func (p place) ofItem() place { return place{merge: p.merge} }
