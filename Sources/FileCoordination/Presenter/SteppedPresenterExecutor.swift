/// An executor that gets each callback of a presenter as a job of its own, so that a test can step through them.
package protocol SteppedPresenterExecutor: TaskExecutor {}
