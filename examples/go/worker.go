// A worker of Espalier in Go, with nothing but the standard library: what docs/trainer_protocol.md asks for, and no more.
// Here is the conversation with the node manager; checkpoint.go has the files, regression.go the training: to train something
// else, replace that one.
//
// `go build` builds it; `espalier up --worker /.../worker` trains with it, or a node manager with it among its `runtimes`. A study
// names it with `trainer: regression`, and needs no `data`.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const frameBytesMax = 16 << 20

// whole is an integer as protobuf's JSON has it: a number, or a text.
type whole int64

func (w *whole) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	value, err := strconv.ParseInt(strings.Trim(string(text), `"`), 10, 64)
	*w = whole(value)
	return err
}

// number is a floating one: those that are not finite are texts.
type number float64

func (n *number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	value, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	*n = number(value)
	return err
}

func (n number) MarshalJSON() ([]byte, error) {
	switch value := float64(n); {
	case math.IsNaN(value):
		return []byte(`"NaN"`), nil
	case math.IsInf(value, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(value, -1):
		return []byte(`"-Infinity"`), nil
	default:
		return json.Marshal(value)
	}
}

// value is a hyper-parameter's: the field of its type is set. This trainer has none that are booleans or texts.
type value struct {
	Integer  *whole  `json:"integer"`
	Floating *number `json:"floating"`
}

type values map[string]value

type metrics map[string]number

// request has one field set besides its id.
type request struct {
	ID       whole     `json:"id"`
	Describe *struct{} `json:"describe"`
	Init     *struct {
		Trainer string      `json:"trainer"`
		Data    string      `json:"data"`
		Step    stepMeaning `json:"step"`
		Values  values      `json:"values"`
		RunID   whole       `json:"runId"`
		StepLog string      `json:"stepLog"`
	} `json:"init"`
	Setup *struct {
		Values values `json:"values"`
	} `json:"setup"`
	Train *struct {
		Step whole `json:"step"`
	} `json:"train"`
	Evaluate *struct{} `json:"evaluate"`
	Save     *struct {
		Path     string          `json:"path"`
		Identity json.RawMessage `json:"identity"` // goes into the file as it came
	} `json:"save"`
	Load *struct {
		Path        string `json:"path"`
		OfOtherCode bool   `json:"ofOtherCode"`
	} `json:"load"`
	Proceed *struct {
		RunID   whole  `json:"runId"`
		StepLog string `json:"stepLog"`
	} `json:"proceed"`
}

type stepMeaning struct {
	Epoch   bool  `json:"epoch"`
	Updates whole `json:"updates"`
}

// object is a JSON object that is written.
type object map[string]any

// failure is an error whose kind is known; any other error of a training is the trainer's own.
type failure struct {
	kind    string
	message string
}

func (f failure) Error() string { return f.message }

func wrongRequest(format string, arguments ...any) error {
	return failure{"FAILURE_KIND_REQUEST", fmt.Sprintf(format, arguments...)}
}

func checkpointFailure(format string, arguments ...any) error {
	return failure{"FAILURE_KIND_CHECKPOINT", fmt.Sprintf(format, arguments...)}
}

func failureReply(err error, stateIntact bool) object {
	kind := "FAILURE_KIND_TRAINER"
	var known failure
	if errors.As(err, &known) {
		kind = known.kind
	}
	message := strings.ReplaceAll(err.Error(), "\x00", "")
	return object{"failure": object{"kind": kind, "message": message, "stateIntact": stateIntact}}
}

// session is what lasts from the first request to the last.
type session struct {
	socket   *os.File
	writing  sync.Mutex     // replies come from several goroutines
	saves    sync.WaitGroup // states that are being written
	training *training      // nil: the next request must be Init
	runID    int64
	stepLog  *os.File // nil: none is wanted
}

// serve answers until the socket closes. An error: what comes is no message.
func (s *session) serve() error {
	for {
		frame, err := readFrame(s.socket)
		if err == io.EOF || err == io.ErrUnexpectedEOF || errors.Is(err, syscall.ECONNRESET) {
			return nil
		} else if err != nil {
			return err
		}
		var asked request
		if err := json.Unmarshal(frame, &asked); err != nil {
			var identified struct {
				ID whole `json:"id"`
			}
			if json.Unmarshal(frame, &identified) != nil || identified.ID == 0 {
				return fmt.Errorf("this is no request: %w", err)
			}
			asked = request{ID: identified.ID} // of no known kind: refused below
		}
		if reply := s.answer(asked); reply != nil {
			s.write(asked.ID, reply)
		}
	}
}

func readFrame(from io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	count := binary.LittleEndian.Uint32(length[:])
	if count > frameBytesMax {
		return nil, fmt.Errorf("a frame of %d bytes", count)
	}
	frame := make([]byte, count)
	_, err := io.ReadFull(from, frame)
	return frame, err
}

// write sends a reply. That the peer is gone is noticed by the next read.
func (s *session) write(id whole, reply object) {
	reply["id"] = id
	text, err := json.Marshal(reply)
	if err != nil || len(text) > frameBytesMax {
		log.Fatalf("a reply of %d bytes cannot be written: %v", len(text), err)
	}
	frame := append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
	s.writing.Lock()
	defer s.writing.Unlock()
	s.socket.Write(frame)
}

// answer carries a request out. Nil: the answer comes later. After a failure that does not leave the state intact, the
// training is gone.
func (s *session) answer(asked request) (reply object) {
	defer func() {
		if panicked := recover(); panicked != nil {
			s.training = nil
			reply = failureReply(fmt.Errorf("%v\n%s", panicked, debug.Stack()), false)
		}
	}()
	reply, err := s.carryOut(asked)
	if err != nil {
		s.training = nil
		return failureReply(err, false)
	}
	return reply
}

func (s *session) carryOut(asked request) (object, error) {
	done := object{"done": object{}}
	switch {
	case asked.Describe != nil:
		return object{"describe": object{"protocolVersion": 1, "trainers": []object{description()},
			"deviceKind": "cpu " + runtime.GOARCH + " " + runtime.Version(), "capabilities": []string{"proceed", "reload"}}}, nil
	case asked.Init != nil:
		return done, s.init(asked)
	case s.training == nil:
		return nil, wrongRequest("no training: Init is what comes first, or after a failure")
	case asked.Proceed != nil:
		return done, s.takeStepsOf(asked.Proceed.RunID, asked.Proceed.StepLog)
	case asked.Setup != nil:
		return done, s.training.setup(asked.Setup.Values)
	case asked.Train != nil:
		return s.train(int64(asked.Train.Step))
	case asked.Evaluate != nil:
		begin := time.Now()
		measured, err := s.training.evaluate()
		return object{"evaluate": object{"metrics": measured, "seconds": time.Since(begin).Seconds()}}, err
	case asked.Save != nil:
		return nil, s.save(asked.ID, asked.Save.Path, asked.Save.Identity)
	case asked.Load != nil:
		saved, err := readCheckpoint(asked.Load.Path)
		if err == nil {
			err = s.training.load(saved, asked.Load.OfOtherCode)
		}
		return done, err
	}
	return nil, wrongRequest("a request of no known kind, or with a field of a wrong type")
}

func (s *session) init(asked request) error {
	s.training = nil
	init := asked.Init
	if init.Trainer != trainerName || init.Data != "" {
		return wrongRequest("there is no trainer '%s' for the data '%s'", init.Trainer, init.Data)
	}
	if init.Step.Epoch == (init.Step.Updates > 0) || init.Step.Updates < 0 {
		return wrongRequest("a step is an epoch, or at least one update")
	}
	begun, err := newTraining(init.Step, init.Values)
	if err != nil {
		return err
	}
	s.training = begun
	return s.takeStepsOf(init.RunID, init.StepLog)
}

// takeStepsOf writes the steps from now on into this run's log.
func (s *session) takeStepsOf(run whole, path string) (err error) {
	if run == 0 {
		return wrongRequest("a run has an id")
	}
	if s.stepLog != nil {
		s.stepLog.Close()
		s.stepLog = nil
	}
	if path != "" {
		if s.stepLog, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
			return wrongRequest("%v", err)
		}
	}
	s.runID = int64(run)
	return nil
}

func (s *session) train(step int64) (object, error) {
	if step != s.training.step+1 {
		return nil, wrongRequest("Train to step %d came at step %d", step, s.training.step)
	}
	begin := time.Now()
	measured, err := s.training.train()
	if err != nil {
		return nil, err
	}
	seconds := time.Since(begin).Seconds()
	if s.stepLog != nil {
		// One write, so that a line is whole or not there. Training is worth more than its account: go on without.
		if _, err := fmt.Fprintf(s.stepLog, "%d %d %.6f\n", s.runID, step, seconds); err != nil {
			log.Print(err)
		}
	}
	return object{"train": object{"metrics": measured, "seconds": seconds}}, nil
}

// save copies the state, and lets training go on while the file is written.
func (s *session) save(id whole, path string, identity json.RawMessage) error {
	begin := time.Now()
	var point struct {
		Step whole `json:"step"`
	}
	if json.Unmarshal(identity, &point) != nil || int64(point.Step) != s.training.step {
		return wrongRequest("Save of step %d came at step %d", point.Step, s.training.step)
	}
	copied, err := s.training.save()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := json.Compact(&text, identity); err != nil {
		return err
	}
	blocking := time.Since(begin).Seconds()
	s.saves.Add(1)
	go func() {
		defer s.saves.Done()
		digest, size, err := writeCheckpoint(path, text.String(), copied)
		if err != nil {
			s.write(id, failureReply(checkpointFailure("%v", err), true))
			return
		}
		s.write(id, object{"save": object{"stateSha256": digest, "bytes": size,
			"blockingSeconds": blocking, "seconds": time.Since(begin).Seconds()}})
	}()
	return nil
}

func main() {
	// Who stops the service stops the node manager, which then asks for what is still to be saved.
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	fd := flag.Int("fd", -1, "the connected socket")
	flag.Parse()
	if *fd < 0 {
		log.Fatal("a node manager starts this program, with --fd N")
	}
	s := session{socket: os.NewFile(uintptr(*fd), "socket")}
	err := s.serve()
	s.saves.Wait()
	if err != nil {
		log.Fatal(err)
	}
}
