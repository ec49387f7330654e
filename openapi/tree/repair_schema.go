package tree

import "strings"

func isTypeName(s string) bool {
	switch s {
	case "string", "number", "integer", "boolean", "array", "object", "null":
		return true
	}
	return false
}

// repairSchema makes the repairs that concern several keywords of a schema, or one keyword in a special way.
func (w *walker) repairSchema(n *Node) {
	if k := n.Get("required"); k != nil && k.kind != Null {
		w.repairRequired(n, k)
	}
	if k := n.Get("items"); k.Kind() == Array {
		w.repairTuple(n, k)
	}
	if k := n.Get("type"); k != nil {
		w.repairType(n, k)
	}
	if k := n.Get("examples"); k.Kind() == Object {
		w.repairExamples(k)
	}
	switch k := n.Get("enum"); k.Kind() {
	case String, Number, Bool:
		w.warn.add(k, CodeListSingle, "\"enum\" must be a list, found %s alone", quote(clip(k.text)))
		k.wrapArray()
	case Object, Null:
		w.wrongType(k, "a list")
		n.remove("enum")
	}
	w.noteClosed(n)
	w.noteRequired(n)
}

// repairRequired handles "required" that is not a list: draft 3's boolean on the property itself (lifted into the list
// of the schema that has the property), or one name.
func (w *walker) repairRequired(n, k *Node) {
	flag, isFlag := "", false
	switch k.kind {
	case Bool:
		flag, isFlag = k.text, true
	case String:
		flag = strings.ToLower(k.text)
		isFlag = flag == "true" || flag == "false"
		if !isFlag && n.Get("properties").Get(k.text) != nil {
			return // the name of a property: texts makes it a list
		}
	case Array:
		if len(k.body.kids) == 0 || k.body.kids[0].kind != Bool {
			return
		}
		flag, isFlag = k.body.kids[0].text, true
	}
	owner := n.owner()
	switch {
	case isFlag && flag == "true" && owner == nil && w.liftFlag(n, k):
	case isFlag && flag == "true" && owner != nil:
		w.warn.add(k, CodeRequiredBool, "\"required\" must be a list of names in the schema that has the property; %s is added to that list", quote(clip(n.key)))
		w.lift(owner, n, k)
	case isFlag:
		w.warn.add(k, CodeRequiredBool, "\"required\" must be a list of property names, found %s; left out", clip(flag))
	default:
		w.wrongType(k, "a list of property names")
	}
	n.remove("required")
}

// owner returns the schema that has n as a property; nil if n is not a property.
func (n *Node) owner() *Node {
	// A property named "properties" is a schema, not a map of them.
	if dict := n.up; dict != nil && dict.key == "properties" && !dict.isRoot() && !dict.roles.has(roleSchema) {
		return dict.up
	}
	return nil
}

// lift adds the name of property to the list of its owner.
func (w *walker) lift(owner, property, origin *Node) {
	list := owner.Get("required")
	if list.Kind() != Array {
		list = newChild(owner, origin, "required", Array, "")
		owner.put("required", list)
	}
	names := w.lifted[owner]
	if names == nil {
		names = map[string]bool{}
		for _, k := range list.body.kids {
			names[k.text] = true
		}
		w.lifted[owner] = names
	}
	if names[property.key] {
		return
	}
	names[property.key] = true
	k := newChild(list, origin, "", String, property.key)
	k.index = uint32(len(list.body.kids))
	list.body.kids = append(list.body.kids, k)
}

// liftFlag moves "required: true" from the schema of a parameter or body to the parameter or body itself.
func (w *walker) liftFlag(n, k *Node) bool {
	holder := n.up
	if n.key != "schema" || holder == nil {
		return false
	}
	if holder.roles.has(roleMedia) && holder.up != nil {
		holder = holder.up.up
	}
	if holder == nil || !holder.roles.has(roleParameter) && !holder.roles.has(roleBody) {
		return false
	}
	w.warn.add(k, CodeRequiredBool, "\"required\" must be a list of property names in a schema; true is applied to the parameter or body itself")
	if holder.Get("required") == nil {
		holder.put("required", newChild(holder, k, "required", Bool, "true"))
	}
	return true
}

// repairMisplaced moves keywords that are one level too deep, among the properties, to the schema: a list is never the
// schema of a property. A keyword that no object satisfies was meant for one of the properties, but which one is
// unknown.
func (w *walker) repairMisplaced(properties *Node) {
	owner := properties.up
	if owner == nil || !owner.roles.has(roleSchema) {
		return
	}
	for _, key := range [...]string{"allOf", "anyOf", "oneOf", "required"} {
		k := properties.Get(key)
		if k.Kind() != Array || owner.Get(key) != nil || key == "required" && !allTexts(k) {
			continue
		}
		properties.remove(key)
		if key != "required" && !w.fitsObjects(key, k) {
			w.warn.add(k, CodeMisplaced, "%s stands among the properties, and no object fits it; left out", quote(key))
			continue
		}
		w.warn.add(k, CodeMisplaced, "%s stands among the properties; moved to the schema", quote(key))
		k.up = owner
		owner.put(key, k)
	}
}

// fitsObjects reports whether objects may satisfy a composition: all of its parts for allOf, otherwise one of them.
func (w *walker) fitsObjects(key string, list *Node) bool {
	for _, k := range list.body.kids {
		if fits := w.fitsObject(k, w.budget.RefChain); fits != (key == "allOf") {
			return fits
		}
	}
	return key == "allOf" || len(list.body.kids) == 0
}

// fitsObject reports whether a schema that has not been repaired yet may accept objects. hops limits the references
// that are followed.
func (w *walker) fitsObject(n *Node, hops int) bool {
	if ref := n.Get("$ref"); ref.Kind() == String && hops > 0 {
		if t := w.set.resolve(w.loader, ref); t.node != nil {
			return w.fitsObject(t.node, hops-1)
		}
	}
	switch t := n.Get("type"); t.Kind() {
	case String:
		return !isTypeName(strings.ToLower(t.text)) || strings.EqualFold(t.text, "object")
	case Array:
		for _, k := range t.body.kids {
			if strings.EqualFold(k.text, "object") {
				return true
			}
		}
		return len(t.body.kids) == 0
	}
	values := n.Get("enum")
	if values.Kind() != Array || len(values.body.kids) == 0 {
		c := n.Get("const")
		return c == nil || c.kind == Object
	}
	for _, k := range values.body.kids {
		if k.kind == Object {
			return true
		}
	}
	return false
}

func allTexts(n *Node) bool {
	for _, k := range n.body.kids {
		if k.kind != String {
			return false
		}
	}
	return true
}

// repairTuple handles "items" with a list of schemas.
func (w *walker) repairTuple(n, items *Node) {
	switch len(items.body.kids) {
	case 0:
		w.warn.add(items, CodeTupleItems, "\"items\" must be a schema, found []; read as {}")
		items.setEmpty(Object)
	case 1:
		w.warn.add(items, CodeTupleItems, "\"items\" must be a schema, found a list of one; its element is used")
		items.become(items.body.kids[0])
	default:
		w.warn.add(items, CodeTupleItems, "\"items\" must be a schema, found a list of %d; read as \"prefixItems\"", len(items.body.kids))
		if n.Get("prefixItems") != nil {
			n.remove("items")
			return
		}
		n.rename(items, "prefixItems")
	}
}

// repairType handles types in the wrong case and null for "null".
func (w *walker) repairType(n, k *Node) {
	switch k.kind {
	case String:
		w.repairTypeName(k)
	case Null:
		if w.set.Root().Get("openapi").Text() >= "3.1" {
			w.warn.add(k, CodeTypeName, "\"type\" is null; read as \"null\"")
			k.setScalar(String, "null")
			return
		}
		w.null(k, field{})
		n.remove("type")
	case Array:
		var drop []*Node
		for _, t := range k.body.kids {
			switch t.kind {
			case String:
				w.repairTypeName(t)
			case Null:
				w.warn.add(t, CodeTypeName, "null stands in a list of types; read as \"null\"")
				t.setScalar(String, "null")
			default:
				w.wrongType(t, "the name of a type")
				drop = append(drop, t)
			}
		}
		k.drop(drop)
	default:
		w.wrongType(k, "the name of a type")
		n.remove("type")
	}
}

func (w *walker) repairTypeName(k *Node) {
	if isTypeName(k.text) {
		return
	}
	if name := strings.ToLower(strings.TrimSpace(k.text)); isTypeName(name) {
		w.warn.add(k, CodeTypeName, "%s is no type; read as %s", quote(k.text), quote(name))
		k.text = name
	}
}

// repairExamples converts a map of examples, as a media type has, to a list.
func (w *walker) repairExamples(k *Node) {
	w.warn.add(k, CodeExamplesObject, "\"examples\" of a schema must be a list, found a map; its values are used")
	kids := make([]*Node, 0, len(k.body.kids))
	for _, e := range k.body.kids {
		if v := e.Get("value"); v != nil {
			e.become(v)
		}
		e.key = ""
		kids = append(kids, e)
	}
	k.kind = Array
	k.setKids(kids)
}
