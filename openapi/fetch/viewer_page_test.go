package fetch

import (
	"strings"
	"testing"
	"time"

	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

// TestHostileViewerPages checks that the time for pages that are made to be slow to parse is proportional to their
// size. Megabytes of patterns in a page that repeats the markup of viewers took six seconds.
func TestHostileViewerPages(t *testing.T) {
	repeat := func(text string, size int) string { return strings.Repeat(text, size/len(text)) }
	most, script := race.Fewer(maxPage, maxPage>>4), race.Fewer(16<<20, 1<<20)
	for name, page := range map[string]string{
		"lists": "<script>redoc " + repeat("urls:[", most), "names": "<script>redoc " + repeat("a", most-1000) + repeat("url:'a',", 400),
		"documents": "<script>redoc " + repeat("url:'a',", most), "attributes": "<a " + repeat("b ", most), "scripts": repeat("<script>redoc url:'a'</script>", most),
		"spaces": "<script>redoc " + repeat(`"     `, most), "configurations": "<script>redoc " + repeat("configUrl='c';", most), "not closed": "<script>redoc " + repeat("url: '", most),
	} {
		t.Run("page of "+name, func(t *testing.T) {
			timebox.Processor(t, 3*time.Second, func() {
				var m candidates
				m.page([]byte(page))
				if len(m.documents) > maxNamed {
					t.Errorf("%d documents", len(m.documents))
				}
			})
		})
	}
	t.Run("script of embedded documents", func(t *testing.T) {
		timebox.Processor(t, 3*time.Second, func() { embedded([]byte(repeat("swaggerDoc ", script)), nil) })
		timebox.Processor(t, 3*time.Second, func() { embedded([]byte(repeat("swaggerDoc:{", script)), nil) })
	})
}
