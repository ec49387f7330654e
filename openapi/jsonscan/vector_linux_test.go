package jsonscan

import (
	"bytes"
	"syscall"
	"testing"
)

// TestVectorsStayInside places texts at the limits of mapped memory: a read outside of them is a fault.
func TestVectorsStayInside(t *testing.T) {
	page := syscall.Getpagesize()
	pages, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip("no memory of our own:", err)
	}
	defer func() {
		if err := syscall.Munmap(pages); err != nil {
			t.Error(err)
		}
	}()
	for _, outside := range [][]byte{pages[:page], pages[2*page:]} {
		if err := syscall.Mprotect(outside, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	inside := pages[page : 2*page]
	sample := bytes.Repeat([]byte(`plain text with a "quoted" word; `), page)
	copy(inside, sample)
	room := make([]byte, 2*page+32)
	for n := range 100 {
		for _, text := range [][]byte{inside[:n], inside[page-n:], inside[n:]} {
			plainRun(text)
			plainWords(text)
			VisibleRun(text, n%2 == 0)
			escapeRun(room, text)
		}
		// The same for writes.
		escapeRun(inside[page-n:], sample)
		escapeRun(inside[:n], sample)
		copy(inside, sample)
	}
}
