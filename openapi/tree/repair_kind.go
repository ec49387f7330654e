package tree

// References to a component of the wrong kind.

// isForeign reports whether n, the target of ref, is a component of another kind than r, and warns of it. It is left
// unchanged: the repairs of r would damage it for references to its own kind.
func (w *walker) isForeign(ref, n *Node, r role) bool {
	home := homeRole(n)
	switch {
	case home == roleCount, home == r, home == roleParameter && r == roleHeader, home == roleHeader && r == roleParameter:
		return false
	}
	w.warn.add(ref, CodeWrongKind, "$ref %s: leads to %s where %s belongs; it is used as far as it fits",
		quote(clip(ref.text)), home.describe(), r.describe())
	return true
}

// repairSchemaRef handles a media type, request body or response that is a reference to a schema: the schema of its
// content is meant. It returns the object around that reference; nil if there is nothing to repair.
func (w *walker) repairSchemaRef(n, ref *Node, r role) *Node {
	if r != roleMedia && r != roleBody && r != roleResponse || n.Get("schema") != nil || n.Get("content") != nil {
		return nil
	}
	t := w.set.resolve(w.loader, ref)
	if t.node == nil || w.fatal != nil || homeRole(t.node) != roleSchema {
		return nil
	}
	w.warn.add(ref, CodeWrongKind, "$ref %s: leads to %s where %s belongs; read as the schema of its content",
		quote(clip(ref.text)), roleSchema.describe(), r.describe())
	n.remove("$ref")
	media := n
	if r != roleMedia && !w.swagger {
		content := newChild(n, ref, "content", Object, "")
		media = newChild(content, ref, "application/json", Object, "")
		content.put("application/json", media)
		n.put("content", content)
	}
	schema := newChild(media, ref, "schema", Object, "")
	ref.up = schema
	schema.put("$ref", ref)
	media.put("schema", schema)
	return schema
}

// homeRole returns the role of a component, which is that of its map, or roleCount if n is not a component.
func homeRole(n *Node) role {
	section := n.up
	if section == nil || n.isRoot() || section.isRoot() || section.up == nil {
		return roleCount
	}
	holder := section.up
	switch {
	case holder.key == "components" && !holder.isRoot() && holder.up.isRoot():
		switch section.key {
		case "requestBodies":
			return roleBody
		case "headers":
			return roleHeader
		case "securitySchemes":
			return roleSecurity
		case "links":
			return roleLink
		case "callbacks":
			return roleCallback
		case "pathItems":
			return rolePathItem
		case "mediaTypes":
			return roleMedia
		case "schemas":
			return roleSchema
		}
	case !holder.isRoot() || holder.Get("swagger") == nil:
		return roleCount
	case section.key == "definitions":
		return roleSchema
	case section.key == "securityDefinitions":
		return roleSecurity
	}
	switch section.key {
	case "parameters":
		return roleParameter
	case "responses":
		return roleResponse
	}
	return roleCount
}
