package openapi

import (
	"fmt"

	"drawbridge/openapi/mediatype"
	"drawbridge/openapi/tree"
)

// The two patch formats in JSON (RFC 6902, RFC 7396). The value distinguishes them: a JSON Patch is an array, and a
// resource is never replaced by an array.
const (
	jsonPatch  = "application/json-patch+json"
	mergePatch = "application/merge-patch+json"
	// strategicPatch is the merge patch of Kubernetes, which defines how the lists of its own types are merged.
	strategicPatch = "application/strategic-merge-patch+json"
)

// patches returns the media types of one body that patch with an object and with an array; nil if it doesn't offer
// both, or offers plain JSON.
func (b *requestBody) patches() (object, list *content) {
	for i := range b.contents {
		ct := &b.contents[i]
		switch media := mediatype.Essence(ct.media); {
		case media == "application/json":
			return nil, nil
		case media == jsonPatch:
			list = ct
		case media == mergePatch, media == strategicPatch && object == nil:
			object = ct
		}
	}
	if object == nil || list == nil {
		return nil, nil
	}
	return object, list
}

// patchBody makes one argument of both, whose value decides at the time of the call.
func (c *compiler) patchBody(object, list *content) (*content, *bodyKind) {
	both := *object
	both.schema = nil
	if object.schema != nil {
		operations := list.schema
		if operations == nil || c.schema.IsObject(operations) {
			// Kubernetes declares all its patches as objects, which no JSON Patch is (RFC 6902 section 3).
			operation := tree.NewObject(list.node)
			operation.Set("type", tree.NewString(list.node, "object"))
			operations = tree.NewObject(list.node)
			operations.Set("type", tree.NewString(list.node, "array"))
			operations.Set("items", operation)
		}
		either := tree.NewArray(object.node)
		either.Append(object.schema)
		either.Append(operations)
		both.schema = tree.NewObject(object.node)
		both.schema.Set("anyOf", either)
		if object.isMergePatch() {
			both.merge = both.schema.Get("anyOf").At(0)
		}
	}
	return &both, &bodyKind{
		name: "patch", codec: jsonCodec, list: list.sends(),
		hint: fmt.Sprintf("An object is sent as %s, an array as %s.", mediatype.Essence(object.media), jsonPatch),
	}
}
