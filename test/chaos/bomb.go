package main

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"drawbridge/test/process"
)

var gzipBomb = figure{
	number: 10, name: "answers that grow without end",
	conditions: [3]string{
		"1 GiB in 1 MiB of gzip, and an answer without end, 5 times each",
		"10 GiB in 10 MiB of gzip, and an answer without end, 30 times each",
		"10 GiB in 10 MiB of gzip, and an answer without end, 300 times each",
	},
	run: runGzipBomb,
}

// runGzipBomb answers with a bomb, and looks at the most memory that the gateway has had meanwhile.
func runGzipBomb(ctx context.Context, s *suite) (rows []row, err error) {
	size := by(s, [3]int64{1 << 30, 10 << 30, 10 << 30})
	bomb := filepath.Join(s.dir, "bomb.gz")
	packed, err := writeBomb(bomb, size)
	if err != nil {
		return nil, err
	}
	const small = `{"ok":true}`
	var begun [2]atomic.Int64 // how many bombs of each kind were begun to be sent
	upstream, err := newService(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/small"):
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, small) // what does not come through is seen at the other end
			_ = z.Close()
		case strings.HasSuffix(r.URL.Path, "/gzip"):
			f, err := os.Open(bomb)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			defer f.Close()
			begun[0].Add(1)
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Length", strconv.FormatInt(packed, 10))
			_, _ = io.Copy(w, f) // the gateway need not take all
		case strings.HasSuffix(r.URL.Path, "/endless"):
			begun[1].Add(1)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`["`))
			for block := []byte(strings.Repeat("a", 64<<10)); ; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		default:
			answerJSON(w, small)
		}
	})
	if err != nil {
		return nil, err
	}
	defer upstream.close()
	g, err := s.serveThings(ctx, upstream.host, "", setup{})
	if err != nil {
		return nil, err
	}
	defer g.stopInto(&err)
	c, err := newCaller(g.host, revisions[len(revisions)-1], "")
	if err != nil {
		return nil, err
	}
	defer c.close()
	for n := range 200 { // all is warm
		if text, err := c.call("get_thing", n, `{"id":"a"}`); err != nil {
			return nil, fmt.Errorf("%w: %s", err, text)
		}
	}
	if text, err := c.call("get_thing", 200, `{"id":"small"}`); err != nil || text != small {
		return nil, fmt.Errorf("a small answer in gzip became %.200q, %w", text, err)
	}
	for i, kind := range []string{"gzip", "endless"} {
		usage, err := g.child.Usage()
		if err != nil {
			return nil, err
		}
		if err := process.ClearPeak(g.child.PID()); err != nil {
			return nil, err
		}
		before, times, refused := usage.RSS, []float64{}, 0
		bombs := by(s, [3]int{5, 30, 300})
		begun[i].Store(0)
		for n := range bombs {
			start := time.Now()
			text, err := c.call("get_thing", 1000+n, `{"id":"`+kind+`"}`)
			times = append(times, float64(time.Since(start))/1e6)
			if refusedAsTooLarge(text, err) {
				refused++
			} else {
				s.progress("   a bomb gave %.100q, %v", text, err)
			}
		}
		if usage, err = g.child.Usage(); err != nil {
			return nil, err
		}
		more := float64(usage.PeakRSS-before) / (1 << 20)
		middle, _, most := median(times)
		goal, memory := "+<= 32 MiB", verdictOf(more <= 32)
		if kind == "endless" { // as much as limits.max_answer lets in is collected, and grows by doubling
			goal, memory = "", shown
		}
		rows = append(rows,
			exploded(kind, bombs, refused, int(begun[i].Load())),
			row{kind + ", resident memory at most", goal, fmt.Sprintf("+%.1f MiB (%.1f before)", more, float64(before)/(1<<20)), memory},
			row{kind + ", time to the refusal", "< 300 ms", fmt.Sprintf("%.0f ms (median), %.0f ms (most)", middle, most), s.timed(most < 300)})
	}
	return rows, nil
}

// refusedAsTooLarge tells whether a call has the result that an answer which is too large has to have, with none of it.
func refusedAsTooLarge(text string, err error) bool {
	return errors.Is(err, errTool) && strings.Contains(text, " sent an answer that is too large.") && !strings.Contains(text, "aaaa") && !strings.Contains(text, "\x00")
}

// exploded judges how many bombs were refused, of those that the service has begun to send: once each, since such an answer is not asked for again.
func exploded(kind string, bombs, refused, begun int) row {
	return row{kind + ", refused as too large", "all", fmt.Sprintf("%d of %d, %d sent", refused, bombs, begun), verdictOf(refused == bombs && begun == bombs)}
}

// writeBomb packs that many zero bytes, and returns how large the file is. A pattern that repeats is packed once, and then
// written again and again: deflate's blocks need not know of each other when each ends on a byte.
func writeBomb(name string, size int64) (packed int64, err error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	const piece = 64 << 20
	var block strings.Builder
	z, err := flate.NewWriter(&block, flate.BestCompression)
	if err != nil {
		return 0, err
	}
	zeros := make([]byte, 1<<20)
	for range piece >> 20 {
		if _, err := z.Write(zeros); err != nil {
			return 0, err
		}
	}
	if err := z.Flush(); err != nil { // ends on a byte
		return 0, err
	}
	var head strings.Builder
	h := gzip.NewWriter(&head)
	if err := h.Flush(); err != nil {
		return 0, err
	}
	if _, err := io.WriteString(f, head.String()[:10]); err != nil { // the header alone (RFC 1952 section 2.3)
		return 0, err
	}
	for range size / piece {
		if _, err := io.WriteString(f, block.String()); err != nil {
			return 0, err
		}
	}
	// An empty last block; no checksum follows, which nobody gets to.
	if _, err := f.Write([]byte{3, 0}); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
