// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// record is one line of the plugin's output.
type record map[string]interface{}

func (r record) text(key string) string {
	text, _ := r[key].(string)
	return text
}

func (r record) number(key string) int {
	number, _ := r[key].(float64)
	return int(number)
}

// process is the plugin, and what it has told so far.
type process struct {
	command *exec.Cmd
	ended   chan struct{}
	log     strings.Builder

	mutex   sync.Mutex
	records []record
	changed chan struct{} // closed and replaced with each new record
}

// plugin starts the plugin under test and waits until the runtime has it.
func (t *test) plugin(r *runtime, options ...string) *process {
	p := &process{ended: make(chan struct{}), changed: make(chan struct{})}
	p.command = exec.Command(t.program, append([]string{"--name", "libnri", "--idx", "10", "--socket", r.socket}, options...)...)
	p.command.Stderr = &p.log
	out, err := p.command.StdoutPipe()
	t.must("a pipe", err)
	t.must("the plugin starts", p.command.Start())
	go p.read(bufio.NewScanner(out))
	t.cleanup = append(t.cleanup, func() {
		p.command.Process.Kill()
		<-p.ended
	})
	p.wait("Configure")
	r.waitConnected()
	return p
}

func (p *process) read(lines *bufio.Scanner) {
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		one := record{}
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			one = record{"event": "not JSON", "line": lines.Text()}
		}
		p.mutex.Lock()
		p.records = append(p.records, one)
		close(p.changed)
		p.changed = make(chan struct{})
		p.mutex.Unlock()
	}
	p.command.Wait()
	close(p.ended)
}

// all returns the records of the given events (of every event, when none is given), in their order.
func (p *process) all(events ...string) []record {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	found := []record{}
	for _, one := range p.records {
		if len(events) == 0 || contains(events, one.text("event")) {
			found = append(found, one)
		}
	}
	return found
}

// wait returns the first record of an event.
func (p *process) wait(event string) record {
	return p.waitFor(event, 1)
}

// waitFor returns the countth record of an event.
func (p *process) waitFor(event string, count int) record {
	deadline := time.After(patience)
	for {
		p.mutex.Lock()
		changed := p.changed
		p.mutex.Unlock()
		if found := p.all(event); len(found) >= count {
			return found[count-1]
		}
		select {
		case <-changed:
		case <-p.ended:
			if found := p.all(event); len(found) >= count {
				return found[count-1]
			}
			panic(unmet{"no event " + event + ", and the plugin has ended; its log: " + p.log.String()})
		case <-deadline:
			panic(unmet{"no event " + event + "; the plugin told " + short(p.all())})
		}
	}
}

func (p *process) signal(number os.Signal) {
	p.command.Process.Signal(number)
}

// waitParts returns the parts of a Synchronize, once the last one is there.
func (p *process) waitParts() []record {
	for count := 1; ; count++ {
		if more, _ := p.waitFor("SynchronizePart", count)["more"].(bool); !more {
			return p.all("SynchronizePart")
		}
	}
}

// stops ends the plugin by SIGTERM.
func (p *process) stops(t *test) {
	p.signal(syscall.SIGTERM)
	t.equal("the plugin's exit status on SIGTERM", p.status(), 0)
}

// stopsQuietly ends the plugin and checks that it had nothing to warn about in all its life.
func (p *process) stopsQuietly(t *test) {
	p.stops(t)
	t.equal("warnings in its log", p.log.String(), "")
}

// status waits for the plugin's end and returns its exit status.
func (p *process) status() int {
	select {
	case <-p.ended:
		return p.command.ProcessState.ExitCode()
	case <-time.After(patience):
		panic(unmet{"the plugin does not end"})
	}
}

// alive tells whether the plugin still runs.
func (p *process) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}
