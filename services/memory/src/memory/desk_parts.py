"""Composes the desk of a replica: its store, facts and methods, and the rating question."""

from contracts.streams import FACTS
from memory import desk_handlers
from memory.adapters.chat_log import StreamLog
from memory.adapters.desk_facts import BusDeskFacts
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_desk import MongoDesk
from memory.adapters.projection_floor import ProjectionFloor
from memory.adapters.redis_looks import RedisLooks
from memory.application.desk import Desk
from memory.application.inbox import Inbox
from memory.application.people import People
from memory.application.rating_question import RatingQuestion
from memory.handlers import FactIntake
from runtime.direct import DirectReader
from runtime.mongo import Database


def desk_part(
    intake: FactIntake,
    *,
    asked: Database,
    storing: Database,
    companies: MongoCompanies,
    inbox: Inbox,
    looks: RedisLooks,
    log: StreamLog,
    floor: ProjectionFloor,
) -> Desk:
    """Serves the desk and consumes its facts; `asked`, `storing`: the database for methods and for consumers."""
    service = intake.service
    conversations, store = MongoConversations(storing["conversations"]), MongoDesk(storing)
    desk = Desk(
        store=store,
        facts=BusDeskFacts(service.publisher, DirectReader(service.nats, FACTS.name)),
        conversations=conversations,
        companies=companies,
        inbox=inbox,
        looks=looks,
        log=log,
        clock=floor.now,
    )
    people = People(desk=desk, store=store, conversations=conversations, companies=companies, inbox=inbox, looks=looks)
    desk_handlers.serve(service, desk, MongoDesk(asked), inbox, people)
    desk_handlers.consume(intake, desk, RatingQuestion(conversations=conversations, companies=companies, log=log))
    return desk
