package state

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"drawbridge/test/timebox"
)

// TestAnnouncedMessage: for a message that is announced with 400 MB no room is made. Not parallel: it counts what is allocated.
func TestAnnouncedMessage(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	done := make(chan struct{})
	serve := func(c net.Conn) {
		defer func() { _ = c.Close() }()
		for lines := bufio.NewScanner(c); lines.Scan(); {
			switch strings.ToLower(lines.Text()) {
			case "hello":
				_, _ = fmt.Fprint(c, "-ERR unknown command\r\n")
			case "subscribe":
				_, _ = fmt.Fprint(c, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$400000000\r\nx")
			}
		}
	}
	go func() {
		defer close(done)
		var serving sync.WaitGroup
		defer serving.Wait()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { serve(c) })
		}
	}()
	client := newShared(t, l.Addr().String(), nil, nil).newClient()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sub := client.Subscribe(t.Context(), "c")
	_, err = sub.ReceiveTimeout(t.Context(), time.Second)
	if err == nil {
		_, err = sub.ReceiveTimeout(t.Context(), time.Second)
	}
	runtime.ReadMemStats(&after)
	if !errors.Is(err, errLargeReply) {
		t.Errorf("the message is %v", err)
	}
	if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 32 {
		t.Errorf("%d MiB were made room for", n)
	}
	_, _ = sub.Close(), client.Close()
	_ = l.Close()
	timebox.Wait(t, done)
}

// TestLargeMessage: a message that no replica would send ends the connection, is counted and told; the next one is heard over another connection, and
// the largest that replicas send is heard.
func TestLargeMessage(t *testing.T) {
	t.Parallel()
	m, heard := miniredis.RunT(t), make(chan int, 10)
	a, b := pair(t, m, func(a, b *Shared) {
		for _, s := range []*Shared{a, b} {
			s.Bus().Subscribe("topic", func(message []byte) { heard <- len(message) })
		}
	})
	a.Bus().Publish(t.Context(), "topic", make([]byte, maxMessage))
	select {
	case n := <-heard:
		if n != maxMessage {
			t.Errorf("%d bytes are heard", n)
		}
	case <-time.After(5 * time.Second):
		t.Error("the largest message is not heard")
	}
	before, _ := b.bus.subscription()
	m.Publish(a.bus.channel("topic"), strings.Repeat("x", maxReply+1))
	eventually(t, "it listens again", func() bool {
		now, listens := b.bus.subscription()
		return listens && now > before
	})
	if testutil.ToFloat64(b.failures[useMessages]) != 1 || !b.Status().Up {
		t.Errorf("%v are counted, %+v", testutil.ToFloat64(b.failures[useMessages]), b.Status())
	}
	a.Bus().Publish(t.Context(), "topic", []byte("small"))
	eventually(t, "the next is heard", func() bool {
		select {
		case n := <-heard:
			return n == len("small")
		default:
			return false
		}
	})
}

// TestReplyBounds: what may be announced, however it is cut into pieces.
func TestReplyBounds(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]bool{
		"+OK\r\n:12345678901234567890\r\n$-1\r\n*-1\r\n$0\r\n\r\n": true,
		"$5\r\n$9999\r\n+OK\r\n":                                   true, // what is in a text announces nothing
		"$3145728\r\n":                                             true,
		"$3145729\r\n":                                             false,
		"*4096\r\n":                                                true,
		"*4097\r\n":                                                false,
		"%9999999999999999999999\r\n":                              false,
		"=400000000\r\n":                                           false,
		"*2\r\n$1\r\nx\r\n$9999999\r\n":                            false,
		"-ERR " + strings.Repeat("x", maxReplyLine):                false,
	} {
		var whole, pieces replyBounds
		got, gotPieces := whole.scan([]byte(reply)), true
		for i := range len(reply) {
			gotPieces = gotPieces && pieces.scan([]byte{reply[i]})
		}
		if got != want || gotPieces != want {
			t.Errorf("%.40q: %v, in pieces %v", reply, got, gotPieces)
		}
	}
}

// FuzzReplyBounds: nothing makes it panic, and pieces count as the whole does.
func FuzzReplyBounds(f *testing.F) {
	f.Add([]byte("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$3\r\nxyz\r\n"), 5)
	f.Add([]byte("$-1\r\n%2\r\n=99999999999999999999\r\n"), 1)
	f.Fuzz(func(t *testing.T, reply []byte, cut int) {
		var whole, pieces replyBounds
		cut = min(max(cut, 0), len(reply))
		if a, b := whole.scan(reply), pieces.scan(reply[:cut]) && pieces.scan(reply[cut:]); a != b || a && whole != pieces {
			t.Errorf("%v %+v, in pieces %v %+v", a, whole, b, pieces)
		}
	})
}
