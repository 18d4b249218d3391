"""Pairs of texts that are easily mixed up: what becomes of the second one.

`UPDATE`: it only adds detail, so it may take the place of the first. `ADD`: a value, a
relation or the thing itself differs, or it may. `DROP`: it says the same.
"""

import pytest

from langchain_agentmemory import MergeSimilar, Operation, PreserveHistory
from tests.unit_tests.policies.examples import entry

ADD, UPDATE, DROP = "add", "update", "drop"

ENGLISH = [
    ("Project requires Go 1.21", "Project requires Go 1.23", ADD),
    ("The rent is 900 euros a month", "The rent is 950 euros a month", ADD),
    (
        "The rent is $900 a month for the flat",
        "The rent is €900 a month for the flat",
        ADD,
    ),
    (
        "The freezer runs at -18 degrees in the lab",
        "The freezer runs at 18 degrees in the lab",
        ADD,
    ),
    (
        "The freezer runs at 18 degrees in the lab",
        "The freezer runs at -18 degrees in the lab",
        ADD,
    ),
    (
        "The freezer runs at −18 degrees in the lab",
        "The freezer runs at 18 degrees in the lab",
        ADD,
    ),
    ("Writes compilers in C", "Writes compilers in C++", ADD),
    ("Builds services on NET", "Builds services on .NET", ADD),
    ("Sends weekly letters to Hannah", "Sends weekly letters with Hannah", ADD),
    ("Sends weekly letters to Hannah", "Sends weekly letters from Hannah", ADD),
    (
        "Likes cycling with friends in Lisbon",
        "Doesn’t like cycling with friends in Lisbon",
        ADD,
    ),
    ("Can swim laps at the Harbor pool", "Can't swim laps at the Harbor pool", ADD),
    ("Can swim laps at the Harbor pool", "Cannot swim laps at the Harbor pool", ADD),
    ("Eats meat at family dinners", "Never eats meat at family dinners", ADD),
    ("Eats meat at family dinners", "Rarely eats meat at family dinners", ADD),
    ("The release is every Wednesday", "The release is no longer on Wednesday", ADD),
    (
        "The ticket for the login page is open",
        "The ticket for the login page is closed",
        ADD,
    ),
    ("Alice manages Bob", "Bob manages Alice", ADD),
    ("Moved from Oslo to Bergen in 2019", "Moved from Bergen to Oslo in 2019", ADD),
    (
        "Alice visited Bob on December 1st, 2025",
        "Alice visited Bob at 4pm on December 1st, 2025",
        UPDATE,
    ),
    (
        "Alice visited Bob on December 1st, 2025.",
        "Alice visited Bob on December 1st, 2025, at 4pm.",
        UPDATE,
    ),
    (
        "Nadia mentors Felix and Omar weekly",
        "Nadia mentors Felix and Omar weekly in Oslo",
        UPDATE,
    ),
    (
        "Drinks green tea every morning",
        "Drinks green tea every morning, without sugar",
        ADD,
    ),
    ("Drinks green tea every morning", "drinks GREEN tea every morning!", DROP),
    ("Doesn't like loud music", "Doesn’t like loud music", DROP),
    (
        "Owns a red bicycle from Utrecht",
        "Owns a red bicycle from Utrecht, bought in 2020",
        UPDATE,
    ),
    (
        "Bought a red dog in Lisbon with Hana",
        "Bought a red dog house in Lisbon with Hana",
        ADD,
    ),
    (
        "Often has lunch with Ana downtown",
        "Often has lunch with Ana's sister downtown",
        ADD,
    ),
    ("Ana enjoys green tea", "Ana enjoys green tea ice", ADD),
    ("Is a teacher at Hillside school", "Was a teacher at Hillside school", ADD),
    (
        "Teaches maths at Hillside school",
        "Formerly teaches maths at Hillside school",
        ADD,
    ),
    ("Drinks tea and coffee at work", "Drinks tea or coffee at work", ADD),
    (
        "Keeps bees behind the farmhouse near Asheville",
        "Keeps bees behind the old farmhouse near Asheville",
        UPDATE,
    ),
    ("Runs 10 km before breakfast", "Runs 10 miles before breakfast", ADD),
    ("Runs 10 km before breakfast", "Runs over 10 km before breakfast", ADD),
    (
        "Has two cats called Tom and Lulu",
        "Has two hundred cats called Tom and Lulu",
        ADD,
    ),
    (
        "The shuttle leaves at 7:30 from Gate North",
        "The shuttle leaves at 7:45 from Gate North",
        ADD,
    ),
    (
        "The shuttle leaves at 7:30 am from Gate North",
        "The shuttle leaves at 7:30 pm from Gate North",
        ADD,
    ),
    ("Passport expires on 2027-01-03", "Passport expires on 2031-01-03", ADD),
    ("Paid 50 for the concert ticket", "Paid 50% for the concert ticket", ADD),
    ("Takes vitamin A in the morning", "Takes vitamin B in the morning", ADD),
    (
        "Takes vitamin D in the morning",
        "Takes vitamin D in the morning with milk",
        UPDATE,
    ),
    (
        "Likes Python 3.12 for data work",
        "Likes Python 3.12 for daily data work",
        UPDATE,
    ),
    ("Works at Initech as an analyst", "Works at Hooli as an analyst", ADD),
    ("Works at Initech as an analyst", "Works at Initech as a senior analyst", UPDATE),
    ("Prefers window seats", "Prefers window, seats", ADD),
    ("Prefers window, seats", "Prefers window seats", UPDATE),
    (
        "Has an appointment on Tuesday at 3 pm",
        "Has an appointment on Thursday at 3 pm",
        ADD,
    ),
    ("Lives in Paris with Lena and Tom", "Lives in Paris with Lena", ADD),
    ("Is allergic to peanuts", "Might be allergic to peanuts", ADD),
    ("Eats fish on Fridays at home", "Eats fish except on Fridays at home", ADD),
    ("Eats fish on Fridays at home", "Only eats fish on Fridays at home", ADD),
    ("Room １２ is booked for Ana", "Room 12 is booked for Ana", DROP),
    ("Room １２ is booked for Ana", "Room 13 is booked for Ana", ADD),
    (
        "Ana’s flat has a balcony facing south",
        "Ana's flat has a balcony facing south in Porto",
        UPDATE,
    ),
    ("Bob managed the Oslo team well", "Bob was managed the Oslo team well", ADD),
    ("Zoe manages the platform team", "Zoe and Ana manage the platform team", ADD),
    ("The café opens at 8", "The café opens at 8", DROP),
    ("Mia has 3 children", "Mia has 3 children and 2 dogs in Rome", ADD),
    ("Speaks French", "Speaks French fluently with clients", ADD),
    (
        "Sister Ana studies law in Rome",
        "Sister Ana studies law in Rome with Eva",
        UPDATE,
    ),
    (
        "Sister Ana studies law in Rome",
        "Sister Ana studies law in Rome, nothing else",
        ADD,
    ),
    ("Budget is 1,000 euros for the trip", "Budget is 1000 euros for the trip", ADD),
    ("Budget is 1,000 euros for the trip", "Budget is 10,000 euros for the trip", ADD),
    ("Lives at 12 Elm Street in Salem", "Lives at 12B Elm Street in Salem", ADD),
    ("Team meets at 9 on Mondays", "Team meets at 9 on Mondays in room Atlas", ADD),
    ("Met Ana in Rome and Bo in Oslo", "Met Ana in Oslo and Bo in Rome", ADD),
    (
        "Temperature limit < 5 degrees in storage",
        "Temperature limit > 5 degrees in storage",
        ADD,
    ),
    ("Uses tabs, not spaces", "Uses spaces, not tabs", ADD),
    ("Prefers tea over coffee", "Prefers coffee over tea", ADD),
    (
        "Adopted a rescue dog last spring",
        "Adopted a rescue dog trainer last spring",
        ADD,
    ),
    ("Sees Dr. Kim for back pain", "Sees Dr. Kim for back pain on Mondays", UPDATE),
    ("Uses a Mac at work", "Uses a Mac at work and a PC at home", ADD),
    (
        "Plans a trip to Japan with Mia",
        "Plans a trip to Japan with Mia in spring",
        UPDATE,
    ),
    ("Was born in Porto in 1990", "Was born in Porto in 1991", ADD),
    ("Reads 2 books a month on trains", "Reads 2 books a week on trains", ADD),
    ("Tea without sugar in the morning", "Tea with sugar in the morning", ADD),
    ("Owes Bob 20 euros", "Bob owes 20 euros", ADD),
    ("Flight LH123 leaves at noon", "Flight LH132 leaves at noon", ADD),
    ("The password hint is Rex-7", "The password hint is Rex_7", ADD),
    (
        "Takes the 7pm shuttle to campus",
        "Takes the 7pm express shuttle to campus",
        UPDATE,
    ),
]

CHINESE = [
    ("项目要求兼容 Go 1.21", "项目要求兼容 Go 1.23", ADD),
    ("小王管理小李", "小李管理小王", ADD),
    ("张三的老板是李四", "李四的老板是张三", ADD),
    ("每周三发布", "目前不再每周三发布", ADD),
    (
        "Alice 在2025年12月1日拜访了 Bob",
        "Alice 在2025年12月1日下午4点拜访了 Bob",
        UPDATE,
    ),
    ("爱丽丝在十二月一日拜访了鲍勃", "爱丽丝在十二月一日下午四点拜访了鲍勃", UPDATE),
    ("月租50元的房子在杭州", "月租50美元的房子在杭州", ADD),
    ("月租￥50的房子在杭州", "月租＄50的房子在杭州", ADD),
    ("冷库温度是-18度", "冷库温度是18度", ADD),
    ("冷库温度是18度", "冷库温度是-18度", ADD),
    ("家里养了3只橘猫和1条金毛犬", "家里养了4只橘猫和1条金毛犬", ADD),
    ("家里养了３只橘猫", "家里养了3只橘猫", DROP),
    ("家里养了３只橘猫", "家里养了5只橘猫", ADD),
    ("昨天跑了二十公里", "昨天跑了二十五公里", ADD),
    ("喜欢吃鱼和青菜", "不喜欢吃鱼和青菜", ADD),
    ("小明每天吃早饭", "小明每天不吃早饭", ADD),
    ("小明去过北京和上海", "小明没去过北京和上海", ADD),
    ("小明去过北京和上海", "小明从未去过北京和上海", ADD),
    ("未来想去无锡工作", "未来想去无锡工作，和小王一起", ADD),
    ("在无锡的工厂上班", "在无锡的工厂上班，早上八点", ADD),
    ("计划去无锡旅游", "未来计划去无锡旅游", UPDATE),
    ("给小李写了一封长信", "和小李写了一封长信", ADD),
    ("给小李写了一封长信", "给小李和小张写了一封长信", ADD),
    ("从北京搬到上海", "从上海搬到北京", ADD),
    ("从北京坐火车到上海", "到北京坐火车从上海", ADD),
    ("每天骑自行车去杭州图书馆上班", "每天骑自行车去杭州图书馆上班，傍晚回家", UPDATE),
    (
        "昨天下午在杭州西湖旁边的店里买了苹果",
        "昨天下午在杭州西湖旁边的店里买了苹果手机",
        ADD,
    ),
    ("周末经常和小李吃饭", "周末经常和小李的妹妹吃饭", ADD),
    ("非常喜欢小李", "非常喜欢小李的妹妹", ADD),
    ("最喜欢的动物是猫", "最喜欢的动物是熊猫", ADD),
    ("最喜欢的動物是貓", "最喜欢的动物是猫", ADD),
    ("喜歡貓和狗", "不喜歡貓和狗", ADD),
    ("沒有去過日本東京", "去過日本東京", ADD),
    ("小王是素食者", "小王并非素食者", ADD),
    ("小王是医生，在杭州工作", "小王曾经是医生，在杭州工作", ADD),
    ("每天早上喝一杯咖啡", "每天早上喝两杯咖啡", ADD),
    ("每天早上喝咖啡", "每天早上戒咖啡", ADD),
    ("爱吃川菜", "怕吃川菜", ADD),
    ("会议在周三下午三点", "会议在周四下午三点", ADD),
    ("会议在周三下午三点", "会议在周三下午五点", ADD),
    ("会议在周三下午三点", "会议在周三上午三点", ADD),
    ("女儿今年五岁", "女儿今年六岁", ADD),
    ("体重70公斤", "体重70斤", ADD),
    ("跑步5公里后去上班", "跑步5英里后去上班", ADD),
    ("预算是50万的装修项目", "预算是50的装修项目", ADD),
    ("预算是50的装修项目", "预算是50万的装修项目", ADD),
    ("喜欢喝茶，不喜欢咖啡", "喜欢咖啡，不喜欢喝茶", ADD),
    ("小王打了小李", "小王被小李打了", ADD),
    ("小王批评小李", "小王被小李批评", ADD),
    ("李不言住在北京海淀区", "李不言住在北京海淀区，养了一只猫", UPDATE),
    ("张无忌喜欢赵敏", "张无忌喜欢赵敏。", DROP),
    ("张无忌住在光明顶", "张无忌没住在光明顶", ADD),
    ("对海鲜过敏", "对海鲜不过敏", ADD),
    ("对花生过敏", "可能对花生过敏", ADD),
    ("在深圳湾公园骑行", "在深圳湾公园骑行，和王小明一起", ADD),
    ("在腾讯工作", "在阿里工作", ADD),
    ("会说日语", "会说日语和英语", ADD),
    ("喜欢C", "喜欢C++", ADD),
    ("用C写编译器和工具", "用C#写编译器和工具", ADD),
    ("住在北京", "住在北京路", ADD),
    ("买了3个苹果和2个梨", "买了2个苹果和3个梨", ADD),
    ("妈妈的生日是5月3日", "爸爸的生日是5月3日", ADD),
    ("护照2027年1月3日到期", "护照2031年1月3日到期", ADD),
    ("只喝绿茶，早上喝", "喝绿茶，早上喝", ADD),
    ("喝绿茶，早上喝", "只喝绿茶，早上喝", ADD),
    ("看得到海的房间", "看不到海的房间", ADD),
    ("小王欠小李500元", "小李欠小王500元", ADD),
    ("发布日改为周五", "发布日是周五", ADD),
    ("周五打网球和羽毛球", "周五打网球和羽毛球，在体育馆", UPDATE),
    ("未来三年住在无锡滨湖区", "未来三年住在无锡滨湖区，和父母一起", UPDATE),
    ("非常喜欢无锡的小笼包和排骨", "非常喜欢无锡的小笼包和排骨，经常去吃", UPDATE),
    ("不过敏的食物只有米饭", "过敏的食物只有米饭", ADD),
    ("昨天在２０２５年会上见到王总", "昨天在2025年会上见到王总。", DROP),
    ("莫言写的小说很好看", "莫言写的小说不好看", ADD),
    ("小王把书还给小李", "小李把书还给小王", ADD),
    ("房间里有12把椅子", "房间里有12张椅子", ADD),
    ("航班MU5101早上起飞", "航班MU5110早上起飞", ADD),
    ("每周跑步三次在西湖边", "每月跑步三次在西湖边", ADD),
    ("小王比小李高", "小李比小王高", ADD),
    ("無錫的工廠在下週開工", "無錫的工廠在下週停工", ADD),
    ("在公司附近租房，月租3000元", "在公司附近租房，月租3500元", ADD),
    ("没有猫，有一只狗", "有一只猫，没有狗", ADD),
    ("女朋友叫李娜", "前女朋友叫李娜", ADD),
    ("Met the mayor of Porto at lunch", "Met the deputy mayor of Porto at lunch", ADD),
]


@pytest.mark.parametrize(("old", "new", "expected"), ENGLISH + CHINESE)
def test_preserve_history_loses_nothing(old, new, expected):
    [decision] = PreserveHistory().decide([Operation("add", new)], [entry(old)])
    assert decision.action == expected, decision.reason


@pytest.mark.parametrize(("old", "new", "expected"), ENGLISH + CHINESE)
def test_an_update_by_name_is_checked_as_strictly(old, new, expected):
    named = Operation("update", new, "m1")
    [decision] = PreserveHistory().decide([named], [entry(old)])
    assert decision.action == expected, decision.reason


@pytest.mark.parametrize(("old", "new", "expected"), ENGLISH + CHINESE)
def test_merge_similar_never_takes_a_changed_number_for_a_repetition(
    old, new, expected
):
    """Nor a changed sign, unit or negation: what is dropped has the old values."""
    [decision] = MergeSimilar().decide([Operation("add", new)], [entry(old)])
    if decision.action == DROP:
        digits = [{c for c in text if c.isdecimal()} for text in (old, new)]
        assert {int(c) for c in digits[1]} <= {int(c) for c in digits[0]}
        assert ("不" in new or "没" in new) == ("不" in old or "没" in old)


def test_there_are_enough_of_them():
    assert min(len(ENGLISH), len(CHINESE)) >= 60
