package embedding

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"drawbridge/gateway/diskcache"
)

// maxRejected is the number of rejected texts after which the rest is not tried: the fault is then not in the texts.
const maxRejected = 16

// saveInterval is how often vectors are saved while more are made, so that a restart loses few of them.
const saveInterval = 10 * time.Second

// Time limits for a disk that hangs.
const (
	readTimeout  = diskcache.ReadTimeout
	writeTimeout = 5 * time.Second
)

// Fill makes the vectors that a finder lacks. It stops early if there is a newer one. It must not be called
// concurrently.
func (e *Embedder) Fill(ctx context.Context, f *Finder) error {
	m := f.model
	if m == nil {
		return nil
	}
	e.load(ctx, m)
	w := &work{e: e, f: f, missing: map[digest][]int{}, saved: time.Now()}
	for i, t := range f.tools {
		d := digestOf(textOf(t))
		if v := m.vectors.use(d); v != nil {
			f.set(i, v)
		} else {
			if w.missing[d] == nil {
				w.order = append(w.order, d)
			}
			w.missing[d] = append(w.missing[d], i)
		}
		e.o.Pause()
	}
	e.count(f)
	began := time.Now()
	err := w.run(ctx)
	e.count(f)
	e.save(m)
	if w.made > 0 || w.rejected > 0 {
		e.o.Logger.Info("tools were embedded", "model", m.name(), "made", w.made, "rejected", w.rejected, "embedded", f.Embedded(), "tools", len(f.tools),
			"dimensions", m.dimensions.Load(), "duration", time.Since(began))
	}
	return err
}

// count sets the gauges, unless there is a newer finder.
func (e *Embedder) count(f *Finder) {
	if e.latest() == f {
		e.metrics.counted(f.Embedded(), len(f.tools)-f.Embedded())
	}
}

func (f *Finder) set(tool int, v *vector) {
	if f.vectors[tool].Swap(v) == nil {
		f.embedded.Add(1)
	}
}

// work is one pass over the tools of a finder.
type work struct {
	e       *Embedder
	f       *Finder
	missing map[digest][]int // tools without a vector, by the digests of their texts
	order   []digest

	made, rejected int
	saved          time.Time // when the vectors were last saved
}

func (w *work) run(ctx context.Context) error {
	for batch := range slices.Chunk(w.order, batchSize) {
		if w.e.latest() != w.f {
			return nil
		}
		if err := w.embed(ctx, batch); err != nil {
			return err
		}
		w.e.count(w.f)
		if time.Since(w.saved) >= saveInterval {
			w.e.save(w.f.model)
			w.saved = time.Now()
		}
	}
	return nil
}

var errMemory = errors.New("there is no memory for more vectors")

// embed makes the vectors of texts. It halves a batch that the server rejects, until the rejected text is alone.
func (w *work) embed(ctx context.Context, batch []digest) error {
	m := w.f.model
	texts := make([]string, len(batch))
	for i, d := range batch {
		texts[i] = textOf(w.f.tools[w.missing[d][0]])
	}
	within, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	found, err := m.client.embed(within, texts, int(m.dimensions.Load()))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w.e.metrics.batches.WithLabelValues(string(outcomeOf(err))).Inc()
	switch {
	case errors.Is(err, errRejected) && len(batch) > 1:
		if err := w.embed(ctx, batch[:len(batch)/2]); err != nil {
			return err
		}
		return w.embed(ctx, batch[len(batch)/2:])
	case errors.Is(err, errRejected) && w.rejected < maxRejected:
		w.rejected++
		return nil
	case err != nil:
		return err
	}
	for i, d := range batch {
		m.dimensions.Store(int64(len(found[i].values)))
		if !m.vectors.add(d, found[i]) {
			return errMemory
		}
		w.made++
		for _, tool := range w.missing[d] {
			w.f.set(tool, &found[i])
		}
	}
	return nil
}

// path returns the file of a model's vectors; "" if they are in memory only. It depends on the server, since another
// may use the same name for another model.
func (e *Embedder) path(m *model) string {
	if e.o.StateDir == "" {
		return ""
	}
	return filepath.Join(e.o.StateDir, diskcache.ID(m.client.url.String(), m.client.model, strconv.Itoa(m.client.dimensions))+fileSuffix)
}

// load reads the vectors of a model from disk, once.
func (e *Embedder) load(ctx context.Context, m *model) {
	path := e.path(m)
	if m.vectors.loaded || path == "" {
		return
	}
	m.vectors.loaded = true
	text, err := diskcache.Within(ctx, e.o.Recover, readTimeout, func() ([]byte, error) { return readFile(path) })
	var all map[digest]*stored
	dimensions := 0
	if err == nil {
		all, dimensions, err = decode(text)
	}
	if err == nil && m.client.dimensions > 0 && m.client.dimensions != dimensions {
		err = errDamaged
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			e.o.Logger.Warn("the stored embeddings can't be used", "file", path, "error", err)
		}
		return
	}
	m.vectors.all = all
	if len(all) > 0 {
		m.dimensions.Store(int64(dimensions))
	}
}

// save writes the vectors of a model to disk if they have changed.
func (e *Embedder) save(m *model) {
	path := e.path(m)
	if path == "" {
		return
	}
	m.vectors.prune(len(m.vectors.all))
	dirty := m.vectors.dirty && len(m.vectors.all) > 0
	var text []byte
	if dirty {
		text = m.vectors.encode(int(m.dimensions.Load()))
	}
	_, err := diskcache.Within(context.Background(), e.o.Recover, writeTimeout, func() (struct{}, error) {
		if !dirty {
			now := time.Now()
			_ = os.Chtimes(path, now, now) // marks the file as used
			return struct{}{}, nil
		}
		return struct{}{}, writeFile(path, text)
	})
	if err != nil {
		e.o.Logger.Warn("embeddings can't be stored", "file", path, "error", err)
		return
	}
	m.vectors.dirty = false
}
