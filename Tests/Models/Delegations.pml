/* Delegations, deaths and the grace: two processes that write one file, and the services that follow each other.
 *
 * A process that has released an access may receive a delegation of the file: then it grants itself accesses until
 * that is recalled.
 * Processes die and come again, services die and are followed by the next one. At no time two processes write, and when
 * nothing happens any more nobody waits.
 *
 * A mistake is built in by one of these: NO_GRACE, HANGUP_FIRST, IGNORE_RECALL. `.ci/model` expects each to be found.
 */
#define CLIENTS 2
#define NOBODY CLIENTS
#define ACCESSES 3     /* of one process */
#define CLIENT_KILLS 2
#define SERVICE_KILLS 2

mtype = { request, release, adopt, giveBack, reassert, reassertionEnded, grant, delegate, recall, hangUp };
mtype = { idle, waiting, inside };

chan toService[CLIENTS] = [8] of { mtype };
chan toClient[CLIENTS] = [8] of { mtype };

/* Processes */
mtype place[CLIENTS] = idle;
bool isAlive[CLIENTS] = true;
bool isKnown[CLIENTS];          /* the service knows of the access that lasts */
bool hasDelegation[CLIENTS];    /* as the process believes */
bool isConnected[CLIENTS] = true;
byte rest[CLIENTS] = ACCESSES;
byte clientKills = CLIENT_KILLS;
byte serviceKills = SERVICE_KILLS;

/* The service */
bool isGranted[CLIENTS];
bool isWaiting[CLIENTS];
bool isExpected[CLIENTS];
bool hasHungUp[CLIENTS];
bool isRecalled;
byte holder = NOBODY;

#define other(i) (1 - (i))
#define isInGrace (isExpected[0] || isExpected[1])

/* A message to a service that's gone is lost. */
inline tell(i, message) {
  if
  :: isConnected[i] -> toService[i]!message
  :: else -> skip
  fi
}

inline drop(channel) {
  do
  :: nempty(channel) -> channel?_
  :: empty(channel) -> break
  od
}

inline look(i) {
  if
  :: isWaiting[i] && !isGranted[other(i)] && holder == NOBODY && !isInGrace ->
    isWaiting[i] = false;
    isGranted[i] = true;
    toClient[i]!grant
  :: isWaiting[i] && holder != NOBODY && !isRecalled && !isInGrace ->
    isRecalled = true;
    toClient[holder]!recall
  :: else -> skip
  fi
}

inline lookAgain() {
  look(0);
  look(1)
}

proctype Client(byte i) {
  mtype message;
end:
  do
  :: atomic { isAlive[i] && place[i] == idle && rest[i] > 0 ->
      rest[i]--;
      if
      :: hasDelegation[i] -> place[i] = inside; isKnown[i] = false
      :: else -> place[i] = waiting; tell(i, request)
      fi }
  :: atomic { isAlive[i] && place[i] == inside ->
      place[i] = idle;
      if
      :: isKnown[i] -> isKnown[i] = false; tell(i, release)
      :: else -> skip
      fi }
  :: atomic { isAlive[i] && nempty(toClient[i]) ->
      toClient[i]?message;
      if
      :: message == grant -> place[i] = inside; isKnown[i] = true
      :: message == delegate -> hasDelegation[i] = true
      :: message == recall ->
#ifndef IGNORE_RECALL
        if
        :: place[i] == inside && !isKnown[i] -> isKnown[i] = true; tell(i, adopt)
        :: else -> skip
        fi;
        hasDelegation[i] = false;
#endif
        tell(i, giveBack)
      :: message == hangUp ->
        isConnected[i] = true;
        hasDelegation[i] = false;
        if
        :: place[i] == inside -> isKnown[i] = true; toService[i]!reassert
        :: else -> skip
        fi;
        toService[i]!reassertionEnded;
        if
        :: place[i] == waiting -> toService[i]!request
        :: else -> skip
        fi
      fi }
  :: atomic { isAlive[i] && clientKills > 0 ->
      clientKills--;
      isAlive[i] = false;
      place[i] = idle;
      hasDelegation[i] = false;
      isKnown[i] = false;
      drop(toClient[i]);
      hasHungUp[i] = isConnected[i] }
  /* The service has noticed: the next process may come. */
  :: atomic { !isAlive[i] && !hasHungUp[i] && !isExpected[i] && rest[i] > 0 ->
      isAlive[i] = true;
      isConnected[i] = true;
      drop(toClient[i]) }
  od
}

inline serve(i) {
  toService[i]?message;
  if
  :: message == request -> isWaiting[i] = true
  :: message == adopt -> isGranted[i] = true
  :: message == reassert -> isGranted[i] = true
  :: message == reassertionEnded -> isExpected[i] = false
  :: message == giveBack ->
    if
    :: holder == i -> holder = NOBODY; isRecalled = false
    :: else -> skip
    fi
  :: message == release ->
    isGranted[i] = false;
    if
    :: !isGranted[other(i)] && !isWaiting[0] && !isWaiting[1] && holder == NOBODY && !isInGrace ->
      holder = i;
      toClient[i]!delegate
    :: true -> skip
    fi
  fi;
  lookAgain()
}

inline depart(i) {
  hasHungUp[i] = false;
  isGranted[i] = false;
  isWaiting[i] = false;
  isExpected[i] = false;
  if
  :: holder == i -> holder = NOBODY; isRecalled = false
  :: else -> skip
  fi;
  lookAgain()
}

/* Messages on their way to the service are lost; those on their way from it arrive, if they had been written. */
inline breakConnection(i) {
  drop(toService[i]);
  hasHungUp[i] = false;
  isGranted[i] = false;
  isWaiting[i] = false;
#ifdef NO_GRACE
  isExpected[i] = false;
#else
  isExpected[i] = isAlive[i];
#endif
  if
  :: isAlive[i] && isConnected[i] ->
    if
    :: drop(toClient[i])
    :: skip
    fi;
    isConnected[i] = false;
    toClient[i]!hangUp
  :: else -> skip
  fi
}

proctype Service() {
  mtype message;
end:
  do
  :: atomic { nempty(toService[0]) -> serve(0) }
  :: atomic { nempty(toService[1]) -> serve(1) }
#ifdef HANGUP_FIRST
  :: atomic { hasHungUp[0] -> depart(0) }
  :: atomic { hasHungUp[1] -> depart(1) }
#else
  :: atomic { hasHungUp[0] && empty(toService[0]) -> depart(0) }
  :: atomic { hasHungUp[1] && empty(toService[1]) -> depart(1) }
#endif
  /* The lock on a dead process's session file is free. */
  :: atomic { isExpected[0] && !isAlive[0] && !hasHungUp[0] -> isExpected[0] = false; lookAgain() }
  :: atomic { isExpected[1] && !isAlive[1] && !hasHungUp[1] -> isExpected[1] = false; lookAgain() }
  :: atomic { serviceKills > 0 ->
      serviceKills--;
      holder = NOBODY;
      isRecalled = false;
      breakConnection(0);
      breakConnection(1) }
  od
}

/* Two that write at once, at any time; somebody who waits, when nothing happens any more. */
proctype Judge() {
end:
  do
  :: atomic { place[0] == inside && place[1] == inside -> assert(false) }
  :: timeout -> assert(place[0] != waiting && place[1] != waiting); break
  od
}

init {
  atomic {
    run Client(0);
    run Client(1);
    run Service();
    run Judge()
  }
}
