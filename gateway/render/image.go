package render

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"

	"drawbridge/openapi/answer"
)

// Limits of images that all model APIs accept. A larger one makes them refuse the message, and every later one of the
// conversation, so it becomes a resource, which no client passes on as an image.
const (
	maxImage     = 5_000_000 // bytes of base64
	maxImageSide = 8_000     // pixels
)

// imageObstacle returns the reason why a model can't be given an image; "" if none is known.
func imageObstacle(p answer.Part) string {
	if base64.StdEncoding.EncodedLen(len(p.Data)) > maxImage {
		return "It is too large for a model to see: at most 5 MB of base64 are."
	}
	if width, height := pixels(p.MediaType, p.Data); width > maxImageSide || height > maxImageSide {
		return "It is too large for a model to see: at most " + strconv.Itoa(maxImageSide) + " pixels in each direction are."
	}
	return ""
}

// pixels returns the width and the height of an image by its header; 0 if they are not known.
func pixels(mediaType string, b []byte) (width, height int) {
	switch mediaType {
	case "image/png":
		if len(b) >= 24 && string(b[12:16]) == "IHDR" {
			return int(binary.BigEndian.Uint32(b[16:])), int(binary.BigEndian.Uint32(b[20:]))
		}
	case "image/gif":
		if len(b) >= 10 {
			return int(binary.LittleEndian.Uint16(b[6:])), int(binary.LittleEndian.Uint16(b[8:]))
		}
	case "image/webp":
		return webpPixels(b)
	case "image/jpeg":
		return jpegPixels(b)
	}
	return 0, 0
}

// webpPixels is pixels for WebP (RFC 9649 section 2).
func webpPixels(b []byte) (width, height int) {
	if len(b) < 30 {
		return 0, 0
	}
	uint24 := func(at int) int { return int(b[at]) | int(b[at+1])<<8 | int(b[at+2])<<16 }
	switch string(b[12:16]) {
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(b[26:])) & 0x3fff, int(binary.LittleEndian.Uint16(b[28:])) & 0x3fff
	case "VP8L":
		both := binary.LittleEndian.Uint32(b[21:])
		return int(both&0x3fff) + 1, int(both>>14&0x3fff) + 1
	case "VP8X":
		return uint24(24) + 1, uint24(27) + 1
	}
	return 0, 0
}

// jpegPixels is pixels for JPEG: it skips segments up to that of the frame (ITU-T T.81, annex B).
func jpegPixels(b []byte) (width, height int) {
	for i := 2; i+9 <= len(b) && b[i] == 0xff; {
		marker := b[i+1]
		switch {
		case marker == 0xff: // a fill byte
			i++
			continue
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			return int(binary.BigEndian.Uint16(b[i+7:])), int(binary.BigEndian.Uint16(b[i+5:]))
		}
		i += 2 + int(binary.BigEndian.Uint16(b[i+2:]))
	}
	return 0, 0
}
