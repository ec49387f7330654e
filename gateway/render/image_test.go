package render

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"drawbridge/openapi/answer"
)

// TestImageBlock checks which images become image blocks: those that are small enough for model APIs (pains row 149).
func TestImageBlock(t *testing.T) {
	picture := func(media string, width, height int) []byte {
		var b bytes.Buffer
		var err error
		canvas := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black})
		switch media {
		case "image/png":
			err = png.Encode(&b, canvas)
		case "image/gif":
			err = gif.Encode(&b, canvas, nil)
		case "image/jpeg":
			err = jpeg.Encode(&b, canvas, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	webp := func(chunk, rest string) []byte {
		return []byte("RIFF\x00\x00\x00\x00WEBP" + chunk + "\x00\x00\x00\x00" + rest + strings.Repeat("\x00", 10))
	}
	lossless := binary.LittleEndian.AppendUint32([]byte("\x2f"), 8000-1|(9-1)<<14)
	signature := picture("image/png", 1, 1)
	for name, c := range map[string]struct {
		media  string
		data   []byte
		facts  string // of the caption; "" if the size is not known
		shown  bool
		reason string
	}{
		"png":            {"image/png", picture("image/png", 8000, 3), "8000 x 3 pixels", true, ""},
		"wide png":       {"image/png", picture("image/png", 8001, 1), "8001 x 1 pixels", false, "8000 pixels"},
		"high gif":       {"image/gif", picture("image/gif", 1, 8001), "1 x 8001 pixels", false, "8000 pixels"},
		"jpeg":           {"image/jpeg", picture("image/jpeg", 20, 10), "20 x 10 pixels", true, ""},
		"wide jpeg":      {"image/jpeg", picture("image/jpeg", 9000, 1), "9000 x 1 pixels", false, "8000 pixels"},
		"a broken jpeg":  {"image/jpeg", []byte("\xff\xd8\xff\xe0\x00\x00\x00\x00\x00\x00\x00\x00\x00"), "", true, ""},
		"webp":           {"image/webp", webp("VP8 ", "\x00\x00\x00\x9d\x01\x2a\x10\x00\x20\x00"), "16 x 32 pixels", true, ""},
		"lossless webp":  {"image/webp", webp("VP8L", string(lossless)), "8000 x 9 pixels", true, ""},
		"extended webp":  {"image/webp", webp("VP8X", "\x00\x00\x00\x00\x40\x1f\x00\x00\x00\x00"), "8001 x 1 pixels", false, "8000 pixels"},
		"a short webp":   {"image/webp", []byte("RIFF\x00\x00\x00\x00WEBPVP8 "), "", true, ""},
		"at the limit":   {"image/png", append(bytes.Clone(signature), make([]byte, maxImage/4*3-len(signature))...), "3.8 MB, 1 x 1 pixels", true, ""},
		"over the limit": {"image/png", append(bytes.Clone(signature), make([]byte, maxImage/4*3-len(signature)+1)...), "3.8 MB, 1 x 1 pixels", false, "5 MB of base64"},
	} {
		r := Renderer{API: "shop", Tool: "get"}
		p := answer.Part{Kind: answer.Image, MediaType: c.media, Data: c.data}
		block, caption := string(r.BinaryBlock(p, 0)), r.Caption(p, 0)
		if strings.HasPrefix(block, `{"type":"image"`) != c.shown || !strings.Contains(block, `"mimeType":"`+c.media+`"`) {
			t.Errorf("%s: %.100s", name, block)
		}
		if !strings.Contains(caption, c.facts) || !strings.Contains(caption, c.reason) || strings.Contains(caption, "pixels)") != (c.facts != "") {
			t.Errorf("%s: %s", name, caption)
		}
	}
}

// FuzzPixels checks that the size of an image is read from its bytes alone, however short.
func FuzzPixels(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff\xff\xff\xc0\x00\x0b\x08\x00\x01\x00\x02\x00\x00"))
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, media := range []string{"image/png", "image/gif", "image/webp", "image/jpeg", "image/bmp"} {
			if width, height := pixels(media, data); width < 0 || height < 0 {
				t.Error(media, width, height)
			}
		}
	})
}

// TestCaption checks the text beside a block that is not text (pains row 150).
func TestCaption(t *testing.T) {
	const end = " If you can't read that block, tell the user that the answer has come and that this client does not pass such files on."
	pdf := answer.Part{Kind: answer.Binary, MediaType: "application/pdf", Data: make([]byte, 1_234_567)}
	for _, c := range []struct {
		part answer.Part
		n    int
		want string
	}{
		{pdf, 0, "The answer (application/pdf, 1.2 MB) is in the next block, as a resource in base64." + end},
		{pdf, 2, "Part 2 of the answer (application/pdf, 1.2 MB) is in the next block, as a resource in base64." + end},
		{answer.Part{Kind: answer.Binary, File: "a.bin", Field: "f", Data: make([]byte, 1200)}, 2, "a.bin (application/octet-stream, 1.2 kB) is in the next block, as a resource in base64." + end},
		{answer.Part{Kind: answer.Binary, Field: "f", Data: make([]byte, 12)}, 1, "f (application/octet-stream, 12 bytes) is in the next block, as a resource in base64." + end},
		{answer.Part{Kind: answer.Binary, MediaType: "image/heic", Data: make([]byte, 12)}, 0, "The answer (image/heic, 12 bytes) is in the next block, as a resource in base64. Models do not take images of this type." + end},
	} {
		r := Renderer{API: "shop", Tool: "get"}
		if got := r.Caption(c.part, c.n); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// TestNoBlankText checks that no text block is white space alone, for any source of the text (pains row 151).
func TestNoBlankText(t *testing.T) {
	for _, blank := range []string{"", " \n", "\u00a0", "\u200b", "\ufeff", "\u2800", "\u3164"} {
		r := Renderer{API: "shop", Tool: "get"}
		for name, got := range map[string]string{
			"text": written(r.Text(blank).Chunks), "error": written(Error(blank)), "block": written(TextBlock([]byte(blank))), "texts": written(Texts([][]byte{[]byte("a"), []byte(blank)}, false)),
			"part":     written(r.Part(answer.Part{Kind: answer.Text, Data: []byte(blank)}).Chunks),
			"resource": written(Contents(ContentsOf("x:", "", []answer.Part{{Kind: answer.Text, Data: []byte(blank)}}, false))),
		} {
			if strings.Contains(got, `"text":"`+strings.ReplaceAll(blank, "\n", `\n`)+`"`) {
				t.Errorf("%s of %q: %s", name, blank, got)
			}
		}
	}
}
