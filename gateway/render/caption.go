package render

import (
	"cmp"
	"fmt"
	"strings"

	"drawbridge/gateway/mcp"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/text"
)

// form is the kind of content block that binary data becomes.
type form uint8

const (
	asResource form = iota
	asImage
	asAudio
)

// formOf returns the form of a part that is not text. Only images that models accept become image blocks, and audio
// blocks exist from revision 2025-03-26 on.
func (r *Renderer) formOf(p answer.Part) form {
	switch {
	case p.Kind == answer.Image && imageObstacle(p) == "":
		return asImage
	case p.Kind == answer.Audio && r.Revision >= "2025-03-26":
		return asAudio
	}
	return asResource
}

// Caption returns the text beside a content block that is not text: name, media type, size, and advice on its use. Many
// clients pass on only text, so without a caption the result would be an empty success. n is the number of the part
// among several, or 0 if it is the only one.
func (r *Renderer) Caption(p answer.Part, n int) string {
	name := "The answer"
	switch {
	case p.File != "" || p.Field != "":
		name = text.Truncate(strings.ToValidUTF8(r.Redactor.Text(cmp.Or(p.File, p.Field)), "\uFFFD"), 100)
	case n > 0:
		name = fmt.Sprintf("Part %d of the answer", n)
	}
	described, why, more := facts(p.MediaType, len(p.Data)), "", "the file"
	form := r.formOf(p)
	if p.Kind == answer.Image {
		if width, height := pixels(p.MediaType, p.Data); width > 0 && height > 0 {
			described += fmt.Sprintf(", %d x %d pixels", width, height)
		}
		why = imageObstacle(p)
	} else if strings.HasPrefix(p.MediaType, "image/") {
		why = "Models do not take images of this type."
	}
	where := "as a resource in base64"
	switch form {
	case asImage:
		where, more = "as an image", "images"
	case asAudio:
		where, more = "as audio", "audio"
	case asResource:
		more = "such files"
	}
	text := fmt.Sprintf("%s (%s) is in the next block, %s.", name, described, where)
	if why != "" {
		text += " " + why
	}
	return text + " If you can't read that block, tell the user that the answer has come and that this client does not pass " + more + " on."
}

// facts describes bytes by media type and size.
func facts(mediaType string, size int) string {
	return text.Truncate(strings.ToValidUTF8(orUnknown(mediaType), "\uFFFD"), 100) + ", " + sizeText(size)
}

// sizeText returns a size in bytes with its unit.
func sizeText(size int) string {
	switch {
	case size == 1:
		return "1 byte"
	case size < 1000:
		return fmt.Sprintf("%d bytes", size)
	case size < 999_950:
		return fmt.Sprintf("%.1f kB", float64(size)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(size)/1e6)
}

// captioned adds the blocks of a part that is not text: its caption and its data.
func (r *Renderer) captioned(chunks []mcp.Chunk, p answer.Part, n int) []mcp.Chunk {
	return append(chunks, mcp.Chunk{Bytes: blockOpen}, mcp.Chunk{Bytes: []byte(r.Caption(p, n)), Escape: true}, mcp.Chunk{Bytes: blockNext}, mcp.Chunk{Bytes: r.BinaryBlock(p, n)})
}
