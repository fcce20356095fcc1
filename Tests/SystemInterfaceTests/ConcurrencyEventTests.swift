import Synchronization
import SystemInterface
import Testing

extension ConcurrencyTests {
  @Suite("Event") struct EventTests {
    private final class Letter: @unchecked Sendable {
      var text = ""
    }

    @Test("A signal that comes before the wait isn't lost")
    func remembersSignal() {
      let event = ThreadEvent()
      #expect(!event.isSignaled)
      event.signal()
      event.signal()
      #expect(event.isSignaled)
      event.wait()
      event.wait()
    }

    @Test("No wake-up is lost in many rounds of question and answer")
    func losesNoWakeUp() {
      let roundCount = 5_000
      let questions = (0..<roundCount).map { _ in ThreadEvent() }
      let answers = (0..<roundCount).map { _ in ThreadEvent() }
      HostThread.start(name: "answerer") {
        for (question, answer) in zip(questions, answers) {
          question.wait()
          answer.signal()
        }
      }
      for (question, answer) in zip(questions, answers) {
        question.signal()
        answer.wait()
      }
    }

    @Test("One signal wakes every waiting thread, and shows what was written before it")
    func wakesEverybody() {
      for round in 0..<100 {
        let event = ThreadEvent()
        let letter = Letter()
        let readers = Countdown(8)
        for index in 0..<8 {
          HostThread.start(name: "reader-\(index)") {
            event.wait()
            #expect(letter.text == "round \(round)")
            readers.countDown()
          }
        }
        letter.text = "round \(round)"
        event.signal()
        readers.wait()
      }
    }

    @Test("A wait with a deadline gives up, and says so")
    func givesUp() {
      let event = ThreadEvent()
      let deadline = HostClock.shared.now.advanced(by: .milliseconds(2))
      #expect(!event.wait(until: deadline))
      #expect(HostClock.shared.now >= deadline)
      event.signal()
      #expect(event.wait(until: deadline))
    }

    @Test("A deadline before the origin of the clock is over at once")
    func acceptsNegativeDeadline() {
      #expect(!ThreadEvent().wait(until: MonotonicTime(nanoseconds: .min)))
    }

    @Test("A thread knows who it is")
    func identifiesThreads() {
      let identities = Journal<UInt64>()
      let kernelIdentifiers = Journal<Int32>()
      let haveAllStarted = Countdown(4)
      onThreads(4) { _ in
        #expect(CurrentThread.current == CurrentThread.current)
        #expect(!CurrentThread.isMain)
        identities.append(CurrentThread.current)
        kernelIdentifiers.append(CurrentThread.kernelThreadIdentifier)
        haveAllStarted.countDown()
        // Identities are unique among threads that live at the same time.
        haveAllStarted.wait()
      }
      #expect(Set(identities.elements).count == 4)
      #expect(Set(kernelIdentifiers.elements).count == 4)
    }

    @Test("The process introduces itself")
    func identifiesProcess() {
      #expect(HostProcess.processIdentifier > 0)
      #expect(!HostProcess.name.isEmpty)
      #expect(!HostProcess.name.contains("/"))
    }
  }
}
