package terminal

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// fake returns a screen of that width that writes to memory.
func fake(w *bytes.Buffer, width int) *Screen {
	return &Screen{w: w, width: func() int { return width }}
}

func TestTruncate(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"orders", 6, "orders"}, {"orders", 5, "orde…"}, {"orders", 1, "…"}, {"orders", 0, ""}, {"", 3, ""},
		{"注文一覧", 8, "注文一覧"}, {"注文一覧", 7, "注文一…"}, {"注文一覧", 6, "注文…"}, {"注文一覧", 2, "…"},
		{"cafe\u0301s", 5, "cafe\u0301s"}, {"cafe\u0301s", 4, "caf…"}, {"a list of", 7, "a list…"},
	} {
		got := Truncate(tt.text, tt.n)
		if got != tt.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", tt.text, tt.n, got, tt.want)
		}
		if Cells(got) > tt.n {
			t.Errorf("Truncate(%q, %d) takes %d cells", tt.text, tt.n, Cells(got))
		}
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("注文 cafe\u0301 orders", 7)
	f.Add("00000\xd400", 7) // no UTF-8
	f.Fuzz(func(t *testing.T, text string, n int) {
		got := Truncate(text, n)
		if Cells(got) > max(n, 0) && got != text {
			t.Errorf("Truncate(%q, %d) = %q takes %d cells", text, n, got, Cells(got))
		}
		if !strings.HasPrefix(text, strings.TrimSuffix(got, ellipsis)) {
			t.Errorf("Truncate(%q, %d) = %q is no beginning of it", text, n, got)
		}
	})
}

func TestTable(t *testing.T) {
	table := func(width int) string {
		tb := Table{Indent: " ", Width: width, Flexible: []int{2, 1}}
		tb.Row("NAME", "PATH", "TITLE", "N")
		tb.Row("getOrder", "/orders/{order_no}/lines", "Read the lines of one order", "7")
		tb.Row("list", "/注文", "一覧", "12")
		var b strings.Builder
		if _, err := tb.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for width, want := range map[int]string{
		0: ` NAME      PATH                      TITLE                        N
 getOrder  /orders/{order_no}/lines  Read the lines of one order  7
 list      /注文                     一覧                         12
`,
		60: ` NAME      PATH                      TITLE                N
 getOrder  /orders/{order_no}/lines  Read the lines of…   7
 list      /注文                     一覧                 12
`,
		50: ` NAME      PATH                   TITLE         N
 getOrder  /orders/{order_no}/l…  Read the li…  7
 list      /注文                  一覧          12
`,
		10: ` NAME      PATH          TITLE         N
 getOrder  /orders/{or…  Read the li…  7
 list      /注文         一覧          12
`,
	} {
		got := table(width)
		if got != want {
			t.Errorf("in %d cells:\n%swant\n%s", width, got, want)
		}
		for line := range strings.Lines(got) {
			if n := Cells(strings.TrimSuffix(line, "\n")); width >= 50 && n > width {
				t.Errorf("a line of %d cells in %d", n, width)
			}
		}
	}
}

// TestStatus: lines are written above the status, which stays; one that is not ended removes it.
func TestStatus(t *testing.T) {
	var b bytes.Buffer
	s := fake(&b, 20)
	write := func(text, want string) {
		t.Helper()
		b.Reset()
		if n, err := s.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("Write = %d, %v", n, err)
		}
		if b.String() != want {
			t.Errorf("%q is written as %q, want %q", text, b.String(), want)
		}
	}
	write("a line\n", "a line\n")
	s.Show("reading documents, 12 of 40 done")
	if want := clearLine + "reading documents,…"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("status = %q, want %q", b.String(), want)
	}
	write("a line\n", clearLine+"a line\nreading documents,…")
	s.Show("")
	write("a line\n", "a line\n")
	s.Show("busy")
	write("a question: ", clearLine+"a question: ")
	write("a line\n", "a line\n")
}

// TestProgress: nothing is shown of what is over within a second; on a terminal the status goes with the progress, and elsewhere
// there is a line every 15 seconds, without control sequences.
func TestProgress(t *testing.T) {
	for name, tt := range map[string]struct {
		terminal bool
		lasts    time.Duration
		want     string
	}{
		"short on a terminal": {true, 900 * time.Millisecond, ""},
		"on a terminal": {true, 1300 * time.Millisecond, clearLine + "| [=====               ] reading documents, 1 of 4 done, 1 s" +
			clearLine + "/ [=====               ] reading documents, 1 of 4 done, 1 s" + clearLine},
		"short elsewhere": {false, 14 * time.Second, ""},
		"elsewhere":       {false, 31 * time.Second, "reading documents, 1 of 4 done, 15 s\nreading documents, 1 of 4 done, 30 s\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b bytes.Buffer
				p := &Progress{plain: &b, began: time.Now(), quit: make(chan struct{}), state: func() (string, int, int) { return "reading documents", 1, 4 }}
				if tt.terminal {
					p.screen = fake(&b, 80)
				}
				p.running.Go(p.run)
				time.Sleep(tt.lasts)
				p.Stop()
				p.Stop()
				if b.String() != tt.want {
					t.Errorf("shown: %q, want %q", b.String(), tt.want)
				}
			})
		})
	}
}

// TestCount: parts that are done come in any order.
func TestCount(t *testing.T) {
	p := NewProgress(&bytes.Buffer{}, "reading documents")
	defer p.Stop()
	p.Count(2, 4)
	p.Count(1, 4)
	if step, done, all := p.state(); step != "reading documents" || done != 2 || all != 4 {
		t.Errorf("state = %q, %d, %d", step, done, all)
	}
}

func TestOf(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if Of(&bytes.Buffer{}) != nil || Of(file) != nil {
		t.Error("a buffer or a file is a terminal")
	}
	if s := fake(&bytes.Buffer{}, 80); Of(s) != s {
		t.Error("a screen is not its own")
	}
	if Interactive(&bytes.Buffer{}) || Interactive(file) {
		t.Error("a person answers from a buffer or a file")
	}
}
