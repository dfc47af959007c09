package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// A linear regression, on samples that are drawn from `seed`, by stochastic gradient descent with momentum.
const (
	trainerName       = "regression"
	codeVersion       = "1" // to be counted up whenever the same hyper-parameters could give other bits
	featureCount      = 8
	sampleCount       = 1000
	validationCount   = 200
	noise             = 0.1
	weightCount       = featureCount + 1 // the last is the bias
	identityStateName = "training.identity"
)

// random is splitmix64: all its state is one number.
type random struct{ state uint64 }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	bits := r.state
	bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9
	bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb
	return bits ^ (bits >> 31)
}

// uniform lies in [-1, 1).
func (r *random) uniform() float64 { return float64(r.next()>>11)/(1<<52) - 1 }

// sample has features, a last one that is always 1, and the target.
type sample struct {
	Features [weightCount]float64
	Target   float64
}

// drawSamples draws what the trainer learns and what it is judged by.
func drawSamples(seed int64) (training, validation []sample) {
	draws := random{uint64(seed)}
	var truth [weightCount]float64
	for i := range truth {
		truth[i] = draws.uniform()
	}
	drawn := make([]sample, sampleCount+validationCount)
	for n := range drawn {
		each := &drawn[n]
		each.Target = noise * draws.uniform()
		for i := range each.Features {
			each.Features[i] = draws.uniform()
			if i == featureCount {
				each.Features[i] = 1
			}
			each.Target += float64(truth[i] * each.Features[i])
		}
	}
	return drawn[:sampleCount], drawn[sampleCount:]
}

// digestOf names samples by content. Those of one seed stand for all: how they are drawn is the same.
func digestOf(samples []sample) string {
	digest := sha256.New()
	binary.Write(digest, binary.LittleEndian, samples)
	return hex.EncodeToString(digest.Sum(nil))
}

func description() object {
	learned, judged := drawSamples(0)
	return object{
		"name": trainerName, "codeDigest": codeVersion, "dataDigest": digestOf(learned), "evaluationDigest": digestOf(judged),
		"metrics": []string{"mse"},
		"hyperParameters": []object{
			{"name": "bs", "type": "VALUE_TYPE_INTEGER", "defaultValue": object{"integer": 32}},
			{"name": "lr", "type": "VALUE_TYPE_FLOATING", "defaultValue": object{"floating": 0.1}},
			{"name": "momentum", "type": "VALUE_TYPE_FLOATING", "defaultValue": object{"floating": 0.9}},
			{"name": "seed", "type": "VALUE_TYPE_INTEGER", "defaultValue": object{"integer": 0}, "initial": true},
		},
	}
}

// training is one training, at a step.
type training struct {
	// The same from the first step to the last.
	meaning             stepMeaning
	samples, validation []sample
	identity            string // whose state this is
	// The hyper-parameters' values. Nil: Setup has not come yet.
	bs           *whole
	lr, momentum *number
	// What the next steps depend on besides: all of it is saved.
	step     int64
	draws    random // shuffles the order when an epoch begins
	order    [sampleCount]int64
	position int64 // in the order; at its end, the next epoch begins
	weights  [weightCount]float64
	velocity [weightCount]float64
}

func newTraining(meaning stepMeaning, initial values) (*training, error) {
	seed := initial["seed"].Integer
	if seed == nil {
		return nil, wrongRequest("seed: an integer is missing")
	}
	if initial["bs"].Integer == nil || initial["lr"].Floating == nil || initial["momentum"].Floating == nil || len(initial) != 4 {
		return nil, wrongRequest("expected the values at step 0 of bs, lr, momentum and seed, of their types, and no others")
	}
	t := &training{meaning: meaning, position: sampleCount, draws: random{^uint64(*seed)}}
	t.samples, t.validation = drawSamples(int64(*seed))
	for i := range t.order {
		t.order[i] = int64(i)
	}
	t.identity = fmt.Sprintf("%s %s data %s evaluation %s step %+v seed %d", trainerName, codeVersion,
		digestOf(t.samples), digestOf(t.validation), meaning, *seed)
	return t, nil
}

// setup takes the values that change; the first time, all.
func (t *training) setup(changed values) error {
	for name, value := range changed {
		switch {
		case name == "bs" && value.Integer != nil:
			t.bs = value.Integer
		case name == "lr" && value.Floating != nil:
			t.lr = value.Floating
		case name == "momentum" && value.Floating != nil:
			t.momentum = value.Floating
		default:
			return wrongRequest("%s: no sequence of this trainer, or of another type", name)
		}
	}
	if err := t.checkSetUp(); err != nil {
		return err
	}
	if *t.bs < 1 {
		return fmt.Errorf("bs: got %d, expected at least 1", *t.bs)
	}
	return nil
}

func (t *training) checkSetUp() error {
	if t.bs == nil || t.lr == nil || t.momentum == nil {
		return wrongRequest("bs, lr and momentum need values first")
	}
	return nil
}

// nextBatch gives the next samples' numbers. It never spans an epoch's end: then it is shorter.
func (t *training) nextBatch() []int64 {
	if t.position == sampleCount {
		for left := uint64(sampleCount); left > 1; left-- {
			other := t.draws.next() % left
			t.order[left-1], t.order[other] = t.order[other], t.order[left-1]
		}
		t.position = 0
	}
	count := int64(*t.bs)
	if count > sampleCount-t.position {
		count = sampleCount - t.position
	}
	batch := t.order[t.position : t.position+count]
	t.position += count
	return batch
}

// errorOf is how far off the prediction is. That products are converted keeps compilers from fusing them with sums, which
// would round otherwise on some processors.
func (t *training) errorOf(each *sample) float64 {
	predicted := 0.0
	for i, feature := range each.Features {
		predicted += float64(t.weights[i] * feature)
	}
	return predicted - each.Target
}

// update trains on one batch, and gives the sum of its squared errors.
func (t *training) update(batch []int64) float64 {
	sum := 0.0
	var gradient [weightCount]float64
	for _, n := range batch {
		off := t.errorOf(&t.samples[n])
		sum += float64(off * off)
		for i, feature := range t.samples[n].Features {
			gradient[i] += float64(off * feature)
		}
	}
	for i := range t.weights {
		t.velocity[i] = float64(float64(*t.momentum)*t.velocity[i]) + gradient[i]/float64(len(batch))
		t.weights[i] -= float64(float64(*t.lr) * t.velocity[i])
	}
	return sum
}

// train trains one step.
func (t *training) train() (metrics, error) {
	if err := t.checkSetUp(); err != nil {
		return nil, err
	}
	sum, samples := 0.0, 0
	for updates := whole(0); ; {
		batch := t.nextBatch()
		sum += t.update(batch)
		samples += len(batch)
		updates++
		if updates == t.meaning.Updates || t.meaning.Epoch && t.position == sampleCount {
			break
		}
	}
	t.step++
	return metrics{"loss": number(sum / float64(samples)), "samples": number(samples)}, nil
}

// evaluate draws nothing and switches nothing: there is nothing to put back.
func (t *training) evaluate() (metrics, error) {
	if err := t.checkSetUp(); err != nil {
		return nil, err
	}
	sum := 0.0
	for i := range t.validation {
		off := t.errorOf(&t.validation[i])
		sum += float64(off * off)
	}
	return metrics{"mse": number(sum / validationCount)}, nil
}

// save copies all that the next steps depend on.
func (t *training) save() (state, error) {
	if err := t.checkSetUp(); err != nil {
		return nil, err
	}
	return state{
		"data.order":      arrayOf("I64", []int64{sampleCount}, &t.order),
		"data.position":   arrayOf("I64", []int64{}, t.position),
		"model.velocity":  arrayOf("F64", []int64{weightCount}, &t.velocity),
		"model.weights":   arrayOf("F64", []int64{weightCount}, &t.weights),
		"random.state":    arrayOf("U64", []int64{}, t.draws.state),
		"training.step":   arrayOf("I64", []int64{}, t.step),
		identityStateName: arrayOf("U8", []int64{int64(len(t.identity))}, []byte(t.identity)),
	}, nil
}

// load takes over a state of this training, and refuses that of another, unless it is meant to go on from other code's.
func (t *training) load(saved state, ofOtherCode bool) error {
	if err := t.checkSetUp(); err != nil {
		return err
	}
	if whose := string(saved[identityStateName].bytes); whose != t.identity && !ofOtherCode {
		return checkpointFailure("it is of another training: %s, not %s", whose, t.identity)
	}
	for _, each := range []struct {
		name, dtype string
		numbers     any
	}{
		{"data.order", "I64", &t.order}, {"data.position", "I64", &t.position}, {"model.velocity", "F64", &t.velocity},
		{"model.weights", "F64", &t.weights}, {"random.state", "U64", &t.draws.state}, {"training.step", "I64", &t.step},
	} {
		if err := saved.into(each.name, each.dtype, each.numbers); err != nil {
			return err
		}
	}
	for _, place := range append([]int64{t.position - 1}, t.order[:]...) {
		if place < 0 || place >= sampleCount {
			return checkpointFailure("the state names a sample that there is not")
		}
	}
	return nil
}
